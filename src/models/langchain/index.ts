export { fromLangChain } from './from-langchain.ts'
export type { LangChainChatModel } from './langchain-messages.ts'
