/// Keys and tokens whose values are published or were made for tests only.
enum Vectors {
    /// RFC 7515 appendix A.2, as PKCS#8.
    static let rfc7515RSAKey = """
        -----BEGIN PRIVATE KEY-----
        MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQCh+BYK4uPJtGXO
        jS1lYmM2K5J9vinh8CR3/BYlzJChNuOL2TSXxbbqY913EeZ8dCn5VrD7io8ImtxL
        aYk8wTM/U+3QGbh3hCUv7JFP5IV3aVlL6kKA0ywPVb9ilE8TA5a8bpvfbr3SvaNn
        juygxmj3AbONv/s4yDQs4v5tJ/reSlpIdJed1LnPmt7Ex1sFhSwsD174pcF1A5L5
        ROjtZMEQxrZHYJqkeDrrnGya11UxMFBji4NmXG9veoKjlnAqH2QbgtPr8jkiGUkf
        toaHLFcW9Qr4NY2ai50Xw0Byj3+H2JoY2PyrZ62EWQwuz3WTOTY8BwNNb2BvniHg
        VFbK5emhAgMBAAECggEAEq5xpGnNCivDflJsRQBXHx1hdR1k6Ulwe2JZD50LpXyW
        PEAeP88vLNO97IjlA7/GQ5sLKMgvfTeXZx9SE+7YwVol2NXOoAJe46sui395IW/G
        O+pWJ1O0BkTGoVEn2bKVRUCgu+GjBVaYLU6f3l9kJfFNS3E0QbVdxzubSu3Mkqzj
        kn439X0M/V51gfpRLI9JYanrC4D4qAdGcopV/0ZHHzQlBjudU2QvXt4ehNYTCBr6
        XCLQUShb1juUO1ZdiYoFaFQT5Tw8bGUl/x/jTj3ccPDVZFD9pIuhLhBOneufuBiB
        4cS98l2SR/RQyGWSeWjnczT0QU91p1DhOVRuOopznQKBgQDgHMQQ60imZV1URk0K
        pLttoLhyt3SmqdEf/kgHePDdtzEafpAu+cS191R2JiuoF2yzWXnwFDcqGigp5BNr
        0AHQfD8/Lk8l1Mk09jxxCfui5nYooNyac8YFjm3vItzVCVDnEd3BbVWG8qf6deqE
        lMGAg+C2V0L4oNXnP7LZcPAZRwKBgQC5A8R+CZW2MvRTLLHzwZkUXV866cff7tx6
        kqa0finGG0KgeqlaZPxgCZnFp7AeAcCMtiynVlJ7vMVgePsLq6XtON4tB5kP9jAP
        rq3rbAOal78eUH5OcED6eNuCV8ixEu1eWcPNCS/l1OW1EnXUEoEHKl54Xrrz2uNw
        kgMTP1FZ1wKBgAcCn1dwJKufzBWQxWQp1vsM5fggqPN1qGb5y0MAk3g7/Ls5bkUp
        5u9SN0Ai3Ya6hNnvWJMb7sXQX6U/zyO2M/hTip7tUeh7CXgwo59dkpN75gJLVds2
        9+DAncu3KXU4f2Fa+7bLNrur53k8KwPOq2bbuTG69QtV7Jr5MR0AHWKNAoGBAIf/
        evpitUf+4JYbLpvNXWcY052Mpz22aR84mY3nh3F2LF2mjMJDpTg7FmuyPcVw6EcG
        yoAe9fa65iNqCq+jdw6PVNGo2hxfjSiZ8IIzHdsPXI89//pMjZcQK9r+CCoRjaZj
        OYiIDktVWZzmevJuv6WywUqd57LE3Zar3dLSIkx1AoGAIYd7DHOhrWvxkwPQsRM2
        tOgrjbcrfvtQJipd+DlcxyVuuM9sQLdgjVk2oy26F0EmpScGLq2MowX7fhd/QJQ3
        ydy5cY7YIBi87w93IKLEdfnbJtoOPLUW0ITrJReOgo1cq9SbsxYawBgfp/gh6A56
        03k2+ZQwVK0JKSHuLFkuQ3U=
        -----END PRIVATE KEY-----
        """
    /// RFC 7515 appendix A.2.
    static let rfc7515RS256Token = """
        eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19\
        yb290Ijp0cnVlfQ.cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt\
        _O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb\
        1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI\
        8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw
        """
    /// RFC 7515 appendix A.3, as PKCS#8.
    static let rfc7515ECKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgjpsQnnGQmL+YBIff
        H1136cspYG6+0iY7X1fCE9+E9LKhRANCAAR/zc4ncPbEXUGDy+5v20t7WAczNXvp
        7xO6z248e9FURcfxRM0bvZt+hyzf7bnuufSzaV1uqQskrYpGIyiFiOWt
        -----END PRIVATE KEY-----
        """
    /// The same key in the older form.
    static let rfc7515ECKeySEC1 = """
        -----BEGIN EC PRIVATE KEY-----
        MHcCAQEEII6bEJ5xkJi/mASH3x9dd+nLKWBuvtImO19XwhPfhPSyoAoGCCqGSM49
        AwEHoUQDQgAEf83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEXH8UTNG72b
        focs3+257rn0s2ldbqkLJK2KRiMohYjlrQ==
        -----END EC PRIVATE KEY-----
        """
    /// RFC 7515 appendix A.3.
    static let rfc7515ES256Token = """
        eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19\
        yb290Ijp0cnVlfQ.DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU\
        1Q
        """
    /// A key on another curve.
    static let p384Key = """
        -----BEGIN PRIVATE KEY-----
        MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDDqVNZS68kSbK2rZ6PO
        V1S5ThLZ6QA7Zg/s9m7OKdTaxvi4h/9Ch3DJCDcmCLFDPIShZANiAASmUXTQ86ap
        RORP/xU3rcf4quLLE1K9an7N96zcKR+b4mk08QfdQYUXzac1urNC0Yho0mfiZtbO
        b4MNiJ+xV1APL7egDhBHutLS95UQPW9DhnuxHwXxeJCBPxOCs0cUUOk=
        -----END PRIVATE KEY-----
        """
    /// A key that is too short.
    static let rsa1024Key = """
        -----BEGIN PRIVATE KEY-----
        MIICdgIBADANBgkqhkiG9w0BAQEFAASCAmAwggJcAgEAAoGBAMOVbU0cVTmRI4Bg
        ek1pmV0zj+D/Jsan9orhbASAqdU+NcQg8ftzJk29Atu5Bp7A5ITXdSVK10x7L56Z
        VfegcEc8ycZVpbc0vDB5ZsCg0RvDe5+KOiSBF6+VkNjtMW4bs893c+pE3n2WrJOw
        rlwMyirU30I50lb9y/VMGHBmhfMxAgMBAAECgYBSP3x/ePK+CrMLQYctFsNP1mcj
        DymXUPr03Gc4XYMOEeM6X0BjpcDt4BZboCuQhz2SP6kbzaVMnGEiKQll4SpVjjZA
        t2ldcaPCnNYBumIxxPrN50eCBMHNDeAcPdqAUV0RqKpLg2mN/HVZ6a8H7niPQHfA
        LjOGmio1N3wwoczAIQJBAO8UptEMUIj/+kPvYFg6TX4JEpF9dqg4x66zRtgOGuMA
        /GbmUn6T4I/oTAmMXPMlBotPH0GiQ7BQUGW6lFJNn4MCQQDRbMEqSuJLtvhzgok5
        ncCbFcjFta6M9tEqcK+aUHLXhkjLL0EAR+zavmyrIwWWoYWM5c+Jp0yeGjqLsdRe
        jhA7AkEAgjOiAZkORv344oR72LCvwSLZvOgx9b0uaiLyQvmzhMrlqnhmls6b7mNY
        /Z42hKg2XynQ4OKosF2c2zn4SrZBVwJAGCeqE/21IjSFbZVFzJ50Y67cjGlLK7kg
        IPwEVREoXdGAPedCYQzqtcQ29npAn8IbjEfJa0AfpzCxRgGJ1CoglwJAMCEjWf6E
        PBVAR/hDeU8ns3otGbM+nJVdXfFgmvdOg2yC4RxOncLnfX9nj+rtQjK65JAG37GG
        bmaqwb/FhISyJA==
        -----END PRIVATE KEY-----
        """
    /// A key under a pass phrase, which nobody is there to type.
    static let encryptedKey = """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIH0MF8GCSqGSIb3DQEFDTBSMDEGCSqGSIb3DQEFDDAkBBCdOlnClOfvQg+E7ZvI
        9jXkAgIIADAMBggqhkiG9w0CCQUAMB0GCWCGSAFlAwQBKgQQ+32/rDVbKJqIP7ne
        9tbFogSBkJxLF36NOdunMMokXpvhTIj07oqJPx+p+h5NAxcMcebQwinY/iI+IBSQ
        KsTTqrN3vDm6dNX8VNSKs7tqdDxXTPRdRqu06EXUz63ULtONigkRpid0G0qy8S2P
        WhRI6esM53vwPb2AHZUV3dbGJwbBt4jc2E52VBt7psADNApCLkeF9LNUOUic+m+m
        jpgT1G8bmQ==
        -----END ENCRYPTED PRIVATE KEY-----
        """
    /// The service account of the assertion below.
    static let oauthKey = """
        -----BEGIN PRIVATE KEY-----
        MIIEvgIBADANBgkqhkiG9w0BAQEFAASCBKgwggSkAgEAAoIBAQDRi62yVUzhF1V9
        WA43g4zKqct6xF0gizz5LPn6esF/KDPQ2hrR/ECYgO/o67E5TGI08XUQrQZ7+yuL
        tPL03hTw8Hk5cOAxvmZ546ZEfayGMGHytsiK46rzHdKyGyH4yqFogp0Xlrwv+WKv
        WpfHRAzHOBVr1UQgFfCIsmwIh342VHpTVNIoIjo3saRXFzSW3lkXI31pdKPOl87Y
        Hp8ypQqW1eYIsof2VU8kLGi/R9XgM9haEODOWNhJp4WRESMhaBVDcKq1/sS/FTMl
        QOZB+dejoAeQ9nmuxDC8SaKNUFcReaaMbwF6u2OMeU3OierVqPxMG0kmz4mKpplz
        Mj+nzx7XAgMBAAECggEAIgUbXiibIrA3IPJ63GhvIzgN4RCgTfhNHec/bnsfjxVn
        1DCUyiK6GghU6uvZCgRsrUvGRb7Rnq9YkoX+K+MiYzuncrvwqiLPYFqlU9lTeTXB
        sTYbuPDdgDsHSgM9sLa1HdKWzo2aX++NJgr/OUrDCFUCpU8qkEr/kjHleD0HMKqa
        8LS7SnhX5VEfhtUwOFuLobFhWcGtAGQYJ+T2fxuq+EzAOuB8u1/GsMBObpr4xSDG
        gOkcD4zDqkZgMmhcEg/LvppV8S5urM7PW5nCDwy675hEm6FAno8wswwglgKQbhL5
        aeyq3kdxDGRNAZUFspIhU2hvJjnnpkHMF+jTY3zGgQKBgQD9JqPDYum1FKNVIZxV
        tRnJIGAJoEE00WBRrHrH0L+xu5S+BdwuW7AH0TIqIgmnWj1qv2/1QzsMqoLKFCEq
        BMy2sh5vgscoDrPe9p4W6+6jLgH5TRiZ75LpmWoN8x59rXJ26JZ78WHCM33QBjH0
        jL8GlmrVA7o+0oaqhdUjPkOeKwKBgQDT52gC2xOBuoObPXNi+6mE3dAVM8M/ND1x
        VUkHZ55Fg0wdbv6Whxi3uHBynD8ovxej19jQALPad0AynXQNQ5Zq7MvFH90mPC6b
        JlUak6q5XCH/KGSzew8It+4fIyphRGEWTp9uj3Q1d0QF6vEAfwFZSCAH/q3JwMBn
        9PHR0XsYBQKBgBpd7eyp3sG3lpOFXq0mobrrHlWiVWhU7n1TQ66QNYcjjIiGP7qs
        XhdSWLE+vlap9X+q1NRs3jehguHdWt7vhQr6XmUq7+diMKXmdezZQg/I+PeoagmO
        hHTEP+GYEvLwH932t8XNDGuXxWDnZEieaD8dZ58sNjfY4aHdMqfrEkvlAoGBALvP
        HANz8b0H9v7PHwZ6sEs/YN55yzGodlCNWzWB4+gOL5biuiflwsWKZbdevie5/hTM
        CLCJ/t3A1ZhGrwXWgmlwSEYFMLdjnZcLCWCNwkGY49THE0Fz7uY2Rok4XKZquXXQ
        50NRR5jfhN2N1l4vMp3T6/fKBHONL7qzgOQKuwOVAoGBAI2nqaAprLYO062d21VH
        QOdfW66brbNVH5UW9Ja4gYKIbIpaYr3diZLPl+evEJCqaar1bzaifTGNWXXeywS7
        +l275WVfVSc+qjFZsAF7CYER9dsZXDGfbHtfw3GZDBqL0sk3tX0gilyTJkWIi8nT
        2v5xTdryUtblgKhYT2oF0gAY
        -----END PRIVATE KEY-----
        """
    /// RS256 over the claims that Google asks for, computed by an independent implementation.
    static let oauthAssertion = """
        eyJhbGciOiJSUzI1NiIsImtpZCI6IjAxMjM0NTY3ODlhYmNkZWYiLCJ0eXAiOiJKV1QifQ.eyJhdWQiOiJodHRwczovL29hdXRoM\
        i5nb29nbGVhcGlzLmNvbS90b2tlbiIsImV4cCI6MTc3NDAwMzYwMCwiaWF0IjoxNzc0MDAwMDAwLCJpc3MiOiJzZW5kZXJAZmVyc\
        nktdGVzdC5pYW0uZ3NlcnZpY2VhY2NvdW50LmV4YW1wbGUiLCJzY29wZSI6Imh0dHBzOi8vd3d3Lmdvb2dsZWFwaXMuY29tL2F1d\
        GgvZmlyZWJhc2UubWVzc2FnaW5nIn0.G-4zCueISI1o5BXIluN3MBoih8tSQYD4UNeWNJNTcFpKTfwBMgLBxdoaaic4a06xBwXtW\
        7ydVBPze5JVk65AlFPF77_PVY77RagHfOG_a2-oemS7BY17xM-O4ix21HZc33Rxo1fJlO3c9t3xcG1RSP3lhrxfGrbK8giViJArl\
        pux0DBSR_PCHhwGAoToK2-dU01hx8b7guDO9Wrk2Crsnd9GCYJAELd8COpT-_cToHmlXyGoBZf9pP-dg6rkeekF12jskdjG6sxbe\
        tFsajwugBeZ3Leq060RPDR97wBttDUTgltpG4k_vsarnLOENhwIILOjJBEwfvMF7sp49QwKOg
        """
    /// The key of the provider tokens below.
    static let providerKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgIC0RI5Nv5GpKuU+v
        EnmWNxG1oNunghhHOCMD0+ZA6yWhRANCAARe4FkQoLSwuk2FwtCVTw9ZnDoNWWuy
        0q3ifvWbbYpkXx9ssXJ0412Ua5NM85qC4w1eOdjKYL66EIkJYoyvqgof
        -----END PRIVATE KEY-----
        """
    /// A key of the same kind that signed none of them.
    static let otherProviderKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgwgTRKchAAwGvVJmP
        xElrddN/+PpIKUS1YTiMH5wfeNahRANCAARoTyRA2Jxjv6G52R+QC00B9j6oD+OA
        9fgALedDUPxlJFWHp0Lk9M+Qx07tY1JaLkyazP13grdxMF313PpdhB2j
        -----END PRIVATE KEY-----
        """
    /// ES256, computed by an independent implementation.
    static let providerToken = """
        eyJhbGciOiJFUzI1NiIsImtpZCI6IktFWVRFU1QwMDEifQ.eyJpc3MiOiJURUFNVEVTVDAxIiwiaWF0IjoxNzc0MDAwMDAwfQ.tA\
        kNwI9yGi_gAYqL91wTEg-DVjJctdv2K--hgsCeBNy6kxzfyvhk3h84Rt-hixaBS8tuJjWqQwBE-aBTNC5SUA
        """
}
