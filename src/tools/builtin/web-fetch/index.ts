export type { ResolvedAddress, ResolveName } from './reach.ts'
export { type WebFetchOptions, webFetchTool } from './web-fetch.ts'
