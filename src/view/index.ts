export { type AgentSummary, type ModelSummary, runSummary, summaryOf, type ToolSummary } from './run-summary.ts'
