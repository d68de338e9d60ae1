export type { ResolvedAddress, ResolveName } from './reach.ts'
export { type WebFetchOptions, webFetchName, webFetchTool } from './web-fetch.ts'
