export type { ForeignModelOptions } from '../foreign/index.ts'
export { fromLangChain } from './from-langchain.ts'
export type { LangChainChatModel } from './types.ts'
