import { isBrought, type Tool } from '../contracts/index.ts'

/** The tools that find and call other tools, if there are too many to send all of them to the model. */
export const findToolsName = 'find_tools'
export const useToolName = 'use_tool'
export const toolSearchNames: readonly string[] = [findToolsName, useToolName]

/** Gives tasks to agents, if there are too many to offer a tool for each. */
export const delegateTaskName = 'delegate_task'

/** Whether a tool may be found by search instead of being sent: tools of servers, imported documents and packages. */
export const isSearchable = (tool: Tool): boolean => tool.namespace !== undefined && tool.namespace !== 'agent' && !isBrought(tool)
