import type { Json, JsonObject, McpServerDefinition, Tool } from '../../../contracts/index.ts'
import { redactSettings } from '../../../project/index.ts'
import type { LeftOutTool } from '../../../tools/mcp/index.ts'
import { shellWord } from '../../../util/shell-word.ts'
import type { NamedServer } from './project-servers.ts'

/** Without secrets. */
export const shownDefinition = ({ name, definition }: NamedServer): JsonObject =>
  redactSettings(definition as unknown as Json, ['mcpServers', name]) as JsonObject

/** `stdio npx -y some-server`, `http https://lab.example.org/mcp`. */
export function transportText(server: NamedServer): string {
  const shown = shownDefinition(server) as unknown as McpServerDefinition
  if (shown.type !== 'stdio') return `${shown.type === 'auto' ? 'http' : shown.type} ${shown.url}`
  return ['stdio', ...[shown.command, ...(shown.args ?? [])].map(shellWord)].join(' ')
}

export const trustText = ({ isTrusted }: NamedServer): 'trusted' | 'not trusted' => (isTrusted ? 'trusted' : 'not trusted')

export const leftOutText = ({ name = 'a tool without a name', reason }: LeftOutTool): string => `${name}: ${reason}`

export interface ShownTool {
  readonly name: string
  readonly description: string
  readonly effect: NonNullable<Tool['effect']>
  readonly approval: 'ask' | 'allow'
}

/** Whether calls need approval before any rule. Tools that decide by their input may ask. */
export function shownTool({ name, description, effect = 'write', approval }: Tool): ShownTool {
  return { name, description, effect, approval: asksFirst(approval, effect) ? 'ask' : 'allow' }
}

function asksFirst(approval: Tool['approval'], effect: ShownTool['effect']): boolean {
  if (!approval) return effect === 'write'
  try {
    const wish = approval({})
    return wish === undefined || (wish as { readonly asks?: boolean }).asks !== false
  } catch {
    return true
  }
}
