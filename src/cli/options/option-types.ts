import type { AgentOptionType } from '../../agents/index.ts'

/** What a setting must be, in a few words. */
export function typeText(type: AgentOptionType): string {
  switch (type.kind) {
    case 'text':
      return 'text'
    case 'names':
      return 'a name, or a list of names'
    case 'number':
      return `a number from ${type.least} to ${type.most}`
    case 'whole':
      return type.least === undefined ? 'a whole number' : `a whole number from ${type.least}`
    case 'duration':
      return 'a duration'
    case 'size':
      return `a size from ${type.least}B`
    case 'choice':
      return type.of.join(', ')
    case 'switch':
      return 'true or false'
    case 'parallel':
      return 'a whole number from 1, true or false'
    case 'schema':
      return 'a JSON Schema'
    case 'file':
      return 'a path'
    case 'identifier':
      return 'a name'
    case 'patterns':
      return 'a name, or a list of names; a trailing * matches any'
    case 'references':
      return 'a file or a name, or a list of them'
    case 'map':
      return 'keys with values'
    case 'rules':
      return 'a list of rules: allow, ask or deny with a tool, or a use of one, like shell(git *)'
    default:
      return type satisfies never
  }
}
