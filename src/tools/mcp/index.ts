export type { Logout } from './auth/logout.ts'
export { type LoginOptions, type LoginResult, loginToServer, logoutFromServer } from './auth/server-login.ts'
export { type McpTokenRecord, type McpTokenStore, memoryTokenStore } from './auth/token-store.ts'
export { type CallQuestions, noQuestions, questionsOf } from './call-questions.ts'
export type { McpHost, PinnedTool, PinVerdict, ToolPins } from './mcp-host.ts'
export { type McpServerFacts, type McpServerSource, type McpToolSource, mcpToolSource } from './mcp-tool-source.ts'
export {
  defaultServerTimeoutMs,
  type HttpServerDefinition,
  isServerName,
  type McpClientCredentials,
  type McpOAuth,
  type McpProtocol,
  type McpServerAuth,
  type McpServerDefinition,
  type StdioServerDefinition,
} from './server-definition.ts'
export type { McpPrompt, McpPromptMessage, McpResource } from './server-offers.ts'
