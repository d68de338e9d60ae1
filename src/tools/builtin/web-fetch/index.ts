export type { ResolvedAddress, ResolveName } from './address-filter.ts'
export { type WebFetchOptions, webFetchTool } from './web-fetch.ts'
