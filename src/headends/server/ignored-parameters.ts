/** Names the parameters of a request that have no effect. */
export const ignoredHeaders = (ignored: readonly string[]): { readonly [name: string]: string } =>
  ignored.length > 0 ? { 'x-troupe-ignored-parameters': ignored.join(', ') } : {}
