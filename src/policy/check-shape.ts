import type { JsonObject, Problem } from '../contracts/index.ts'
import { aBoolean, checkField, checkKeys, type FieldType, isPlainRecord, oneOf, within } from '../util/option-problems.ts'
import { parseDuration, showDuration } from '../util/parse-units.ts'
import { hasPlaceholders, parsePlaceholders, placeholderRemedy } from './placeholders.ts'
import type { FieldsShape, Shape, SimpleType, TextShape } from './shape.ts'

/** Adds what is wrong with a value of a program. Never repeats a text that may be a secret. */
export function checkShape(problems: Problem[], value: unknown, { shape, place }: { readonly shape: Shape; readonly place: string }): void {
  const check = (type: FieldType): boolean => checkField(problems, value, { type, place })
  switch (shape.kind) {
    case 'any':
      return
    case 'or':
      if (value !== shape.word) checkShape(problems, value, { shape: shape.of, place })
      return
    case 'text':
      if (check(textType(shape)) && (shape.isLiteral || !hasPlaceholders(String(value))))
        checkText(problems, String(value), { shape, place })
      return
    case 'value':
      check({ remedy: likeThis(shape.example), ...valueType(shape.type) })
      return
    case 'list':
      if (check(listType(shape))) checkEntries(problems, value as readonly unknown[], { shape, place })
      return
    case 'names':
      if (!check({ ...anObject, remedy: likeThis(shape.example) })) return
      for (const [name, each] of Object.entries(value as object))
        if (shape.name?.test(name) === false)
          problems.push({
            place: `${place}.${name}`,
            message: 'this name is not valid',
            remedy: `${shape.naming ?? 'Choose another name'}.`,
          })
        else checkShape(problems, each, { shape: shape.of, place: `${place}.${name}` })
      return
    case 'fields':
      if (check({ ...anObject, remedy: `Its keys are ${Object.keys(shape.of).join(', ')}.` }))
        checkFieldsShape(problems, value as JsonObject, { shape, place })
      return
    default:
      shape satisfies never
  }
}

const likeThis = (example: string): string => `Write it like ${example}.`
const anObject: FieldType = { expected: 'an object', isSecret: true, accepts: isPlainRecord }

type ListShape = Extract<Shape, { readonly kind: 'list' }>

const listType = ({ isRequired, example }: ListShape): FieldType => ({
  expected: isRequired ? 'a list of at least one' : 'a list',
  remedy: likeThis(example),
  accepts: (value) => Array.isArray(value) && !(isRequired && value.length === 0),
})

function checkEntries(
  problems: Problem[],
  list: readonly unknown[],
  { shape: { of, uniqueBy }, place }: { readonly shape: ListShape; readonly place: string },
): void {
  const names = list.map((each) => (uniqueBy !== undefined && isPlainRecord(each) ? each[uniqueBy] : undefined))
  for (const [index, each] of list.entries()) {
    checkShape(problems, each, { shape: of, place: `${place}[${index}]` })
    const first = names.indexOf(names[index])
    if (typeof names[index] === 'string' && first < index)
      problems.push({
        place: `${place}[${index}].${uniqueBy}`,
        message: `${place}[${first}] already has this ${uniqueBy}`,
        remedy: `Give each its own ${uniqueBy}.`,
      })
  }
}

const textType = ({ isLiteral, mayBeEmpty, example }: TextShape): FieldType => ({
  expected: 'text',
  ...(isLiteral ? { remedy: likeThis(JSON.stringify(example)) } : { isSecret: true, remedy: placeholderRemedy }),
  accepts: (value) => typeof value === 'string' && (mayBeEmpty || value.trim() !== '') && (isLiteral || parsePlaceholders(value).ok),
})

function checkText(problems: Problem[], value: string, { shape, place }: { readonly shape: TextShape; readonly place: string }): void {
  const message = shape.check?.(value)
  if (message !== undefined) problems.push({ place, message: `it ${message}`, remedy: likeThis(JSON.stringify(shape.example)) })
}

function checkFieldsShape(
  problems: Problem[],
  value: JsonObject,
  { shape, place }: { readonly shape: FieldsShape; readonly place: string },
): void {
  const before = problems.length
  checkKeys(problems, value, { known: Object.keys(shape.of), place })
  for (const [key, inner] of Object.entries(shape.of))
    if (value[key] !== undefined || shape.required?.includes(key))
      checkShape(problems, value[key], { shape: inner, place: `${place}.${key}` })
  if (problems.length > before) return
  for (const { key, message, remedy } of shape.findConflicts?.(value) ?? [])
    problems.push({ place: key === '' ? place : `${place}.${key}`, message: `it ${message}`, remedy })
}

function valueType(type: SimpleType): FieldType {
  switch (type.kind) {
    case 'choice':
      return oneOf(type.of)
    case 'boolean':
      return aBoolean
    case 'duration': {
      const { max = Number.MAX_SAFE_INTEGER } = type
      const most = type.max === undefined ? 'of at least 1ms' : `from 1ms to ${showDuration(max)}`
      const accepts = (value: unknown): boolean => (parseDuration(value) ?? 0) >= 1 && (parseDuration(value) ?? 0) <= max
      return { expected: `a time ${most}`, remedy: 'Write it like "30s"; a number is milliseconds.', accepts }
    }
    case 'integer':
      return within(type)
    case 'size':
      return within({ ...type, kind: 'integer' })
    default:
      return type satisfies never
  }
}
