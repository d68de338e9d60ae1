export type { AiSdkModel, Dialect } from './dialect.ts'
export { aiSdkModel, type FromAiSdkOptions, fromAiSdk } from './from-ai-sdk.ts'
