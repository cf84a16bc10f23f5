#!/bin/bash
# Gives the fleet's logins their password: run by the image of PostgreSQL, once.
set -euo pipefail
for part in owner scheduler worker janitor all reporter intake; do
    echo "ALTER ROLE fleet_$part PASSWORD :'password';"
done | psql -X -v ON_ERROR_STOP=1 -v password="$FLEET_PASSWORD" -U "$POSTGRES_USER" -d "$POSTGRES_DB"
