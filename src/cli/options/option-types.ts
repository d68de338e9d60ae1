import type { ValueType } from '../../agents/index.ts'

/** The type of a setting, for help and reference. */
export function typeText(type: ValueType): string {
  switch (type.kind) {
    case 'text':
      return 'text'
    case 'names':
      return 'a name, or a list of names'
    case 'number':
      return type.max === undefined ? `a number, at least ${type.min}` : `a number from ${type.min} to ${type.max}`
    case 'integer':
      return type.min === undefined ? 'an integer' : `an integer, at least ${type.min}`
    case 'duration':
      return 'a duration'
    case 'size':
      return `a size, at least ${type.min}B`
    case 'choice':
      return type.of.join(', ')
    case 'boolean':
      return 'true or false'
    case 'parallel':
      return 'an integer, at least 1; or true or false'
    case 'schema':
      return 'a JSON Schema'
    case 'file':
      return 'a path'
    case 'identifier':
      return 'a name'
    case 'patterns':
      return 'a name, or a list of names; a trailing * matches any'
    case 'references':
      return 'a file or name, or a list of them'
    case 'map':
      return 'a mapping of keys to values'
    case 'rules':
      return 'a list of rules: allow, ask or deny with a tool name or a call pattern such as shell(git *)'
    default:
      return type satisfies never
  }
}
