/** The part of a custom resource's schema that has fields, also in its OpenAPI form. */
export interface FieldSchema {
  readonly properties?: Readonly<Record<string, FieldSchema>>;
  readonly additionalProperties?: FieldSchema | boolean;
  readonly items?: FieldSchema;
}

/**
 * Returns the paths of all fields of `spec` and `status`, such as `spec.hosts.app`. An element of a list, or a value of a map,
 * has the path of the list or the map.
 */
export const fieldsOf = ({ properties: { spec = {}, status = {} } = {} }: FieldSchema): string[] => [
  ...below(spec, 'spec'),
  ...below(status, 'status'),
];

function below({ properties = {}, additionalProperties, items }: FieldSchema, path: string): string[] {
  const named = Object.entries(properties).flatMap(([name, schema]) => [`${path}.${name}`, ...below(schema, `${path}.${name}`)]);
  const values = typeof additionalProperties === 'object' ? below(additionalProperties, path) : [];
  return [...named, ...values, ...(items ? below(items, path) : [])];
}
