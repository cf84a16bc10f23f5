/// How the page looks, on a screen and on paper.
enum PageStyle {
    static let css: HTML = """
        :root { color-scheme: light; }
        body { font: 15px/1.45 system-ui, sans-serif; color: #1a1f27; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
        h1 { font-size: 1.7rem; margin: 0 0 .2rem; overflow-wrap: anywhere; }
        h2 { font-size: 1.05rem; margin: 0 0 .5rem; }
        header p, footer, .note, small { color: #596273; }
        section { margin: 2rem 0; break-inside: avoid; }
        .tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); gap: .8rem; }
        .tile { border: 1px solid #d9dee7; border-radius: .5rem; padding: .7rem .9rem; }
        .tile b { display: block; font-size: 1.5rem; font-variant-numeric: tabular-nums; }
        .tile span { display: block; line-height: 1.25; margin-bottom: .15rem; }
        table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
        th { text-align: left; font-weight: 600; }
        .figures { font-size: .78rem; }
        .figures th, .figures td { padding: .3rem .35rem; border-bottom: 1px solid #e6e9ef; }
        .figures thead th { color: #596273; vertical-align: bottom; }
        .figures thead th { hyphens: auto; }
        .when { white-space: nowrap; }
        .wide { overflow-x: auto; }
        .n { text-align: right; white-space: nowrap; }
        .bars th { width: 12rem; font-weight: 400; padding: .2rem .5rem .2rem 0; overflow-wrap: anywhere; }
        .bars .n { width: 6rem; padding-left: .6rem; }
        .bars .bar { min-width: 6rem; }
        .bars svg { display: block; width: 100%; height: 14px; }
        .series { width: 100%; height: auto; }
        .series text { font-size: 11px; fill: #596273; font-variant-numeric: tabular-nums; }
        .axis { stroke: #d9dee7; stroke-width: 1; }
        .legend { margin: 0 0 .5rem; font-size: .85rem; }
        .key { margin-right: 1rem; white-space: nowrap; }
        .key i { display: inline-block; width: .8em; height: .8em; margin-right: .35em; vertical-align: -.05em; }
        .empty { color: #596273; }
        footer { border-top: 1px solid #d9dee7; margin-top: 2rem; padding-top: .6rem; font-size: .85rem; }
        @media (max-width: 40rem) {
            .bars th { width: auto; }
            .bars .n { width: auto; }
        }
        @page { margin: 14mm; }
        @media print {
            html { font-size: 11px; }
            body { margin: 0; padding: 0; max-width: none; font-size: 11px; }
            section { margin: 1.6rem 0; }
            .wide { overflow: visible; }
            h2 { break-after: avoid; }
            tr, .tile { break-inside: avoid; }
            * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
        }
        """
}
