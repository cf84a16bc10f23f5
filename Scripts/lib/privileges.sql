-- Who may do what in the schemas of Pushfleet, one privilege a line, without the owner's own: Migrations/privileges.txt.
WITH holder AS (
    SELECT oid, rolname::text AS name FROM pg_roles
    UNION ALL
    SELECT 0, 'PUBLIC'
),
held AS (
    SELECT acl.grantee, acl.privilege_type AS privilege, 'schema ' || n.nspname AS object
    FROM pg_namespace n
    CROSS JOIN aclexplode(coalesce(n.nspacl, acldefault('n', n.nspowner))) acl
    WHERE n.nspname IN ('pushfleet', 'pushfleet_report') AND acl.grantee <> n.nspowner
    UNION ALL
    SELECT acl.grantee, acl.privilege_type,
        CASE c.relkind WHEN 'S' THEN 'sequence ' WHEN 'v' THEN 'view ' ELSE 'table ' END || n.nspname || '.'
            || c.relname
    FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace
    CROSS JOIN aclexplode(c.relacl) acl
    WHERE n.nspname IN ('pushfleet', 'pushfleet_report') AND acl.grantee <> c.relowner
    UNION ALL
    SELECT acl.grantee, acl.privilege_type,
        'columns of ' || n.nspname || '.' || c.relname || ': ' || string_agg(a.attname, ', ' ORDER BY a.attname)
    FROM pg_attribute a
    JOIN pg_class c ON c.oid = a.attrelid
    JOIN pg_namespace n ON n.oid = c.relnamespace
    CROSS JOIN aclexplode(a.attacl) acl
    WHERE n.nspname IN ('pushfleet', 'pushfleet_report') AND acl.grantee <> c.relowner
    GROUP BY acl.grantee, acl.privilege_type, n.nspname, c.relname
    UNION ALL
    SELECT acl.grantee, acl.privilege_type,
        'function ' || n.nspname || '.' || p.proname || CASE WHEN p.prosecdef THEN ', as the owner' ELSE '' END
    FROM pg_proc p
    JOIN pg_namespace n ON n.oid = p.pronamespace
    CROSS JOIN aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) acl
    WHERE n.nspname IN ('pushfleet', 'pushfleet_report') AND acl.grantee <> p.proowner
    UNION ALL
    SELECT m.member, 'MEMBER', 'role ' || m.roleid::regrole
    FROM pg_auth_members m
    JOIN pg_roles r ON r.oid = m.member
    WHERE r.rolname ~ '^pushfleet_(scheduler|worker|janitor|reporter|caller|intake)$'
)
SELECT format('%-19s %-7s %s', holder.name, held.privilege, held.object)
FROM held
JOIN holder ON holder.oid = held.grantee
ORDER BY holder.name COLLATE "C", held.object COLLATE "C", held.privilege COLLATE "C";
