import type { ValueType } from '../../agents/index.ts'

/** What a setting must be, in a few words. */
export function typeText(type: ValueType): string {
  switch (type.kind) {
    case 'text':
      return 'text'
    case 'names':
      return 'a name, or a list of names'
    case 'number':
      return type.max === undefined ? `a number from ${type.min}` : `a number from ${type.min} to ${type.max}`
    case 'integer':
      return type.min === undefined ? 'a whole number' : `a whole number from ${type.min}`
    case 'duration':
      return 'a duration'
    case 'size':
      return `a size from ${type.min}B`
    case 'choice':
      return type.of.join(', ')
    case 'boolean':
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
