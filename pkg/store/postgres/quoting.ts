import pg from 'pg';

/** Names and texts in SQL. All that a migration may import. */

export const quoteIdentifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;
export const quoteLiteral = (text: string): string => pg.escapeLiteral(text);
