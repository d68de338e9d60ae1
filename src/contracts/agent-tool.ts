import type { Tool } from './tool.ts'

/** The tool that the runtime makes of an agent. It only starts a child and returns its result: nothing acts in between. */
export interface AgentCallTool extends Tool {
  readonly onlyCallsAgent: true
}

export const isAgentTool = (tool: Tool): tool is AgentCallTool => 'onlyCallsAgent' in tool
