import type { Tool, ToolSpec } from '../../contracts/index.ts'
import { findToolsName, useToolName } from '../../policy/tool-search.ts'
import { rankByWords } from '../../util/common-words.ts'

// Many tools would fill the request, so these two find and call them instead.

const mostDescribed = 10
const mostNamed = 50

const findTools: Tool = {
  name: findToolsName,
  description: `Find further tools for a task. Shows the purpose and input of each. Call them with ${useToolName}.`,
  inputSchema: {
    type: 'object',
    properties: { query: { type: 'string', description: 'What the tool should do, or its name. Omit it to list the names of all tools.' } },
    additionalProperties: false,
  },
  effect: 'read',
  concurrency: 'shared',
  execute({ query }, { searchableTools }) {
    const all = searchableTools()
    if (typeof query !== 'string' || query.trim() === '') return named(all)
    const found = rankByWords(query, all, ({ name, description }) => ({ name, text: description }))
    if (found.length === 0) return `No tool matches. ${named(all)}`
    const rest = found.slice(mostDescribed)
    const more = rest.length === 0 ? '' : `\n… and ${named(rest)} Search for a name to see its input.`
    return `${found.slice(0, mostDescribed).map(describe).join('\n')}${more}`
  },
}

const named = (tools: readonly ToolSpec[]): string => {
  const shown = tools.slice(0, mostNamed).map(({ name }) => name)
  const rest = tools.length - shown.length
  return `${shown.join(', ')}${rest > 0 ? `, and ${rest} more` : ''}.`
}

const describe = ({ name, description, inputSchema }: ToolSpec): string =>
  `- ${name}: ${description}\n  input: ${JSON.stringify(inputSchema)}`

/** Never runs: a call of it becomes a call of its target before rules and approvals apply. */
const useTool: Tool = {
  name: useToolName,
  description: `Call a tool that ${findToolsName} showed.`,
  inputSchema: {
    type: 'object',
    properties: {
      tool: { type: 'string', description: 'Name of the tool.' },
      input: { type: 'object', description: 'Its input.' },
    },
    required: ['tool'],
    additionalProperties: false,
  },
  execute: () => ({ ok: false, error: { class: 'failed', message: 'use_tool was not replaced by its target.' } }),
}

export const toolSearch: readonly Tool[] = [findTools, useTool]
