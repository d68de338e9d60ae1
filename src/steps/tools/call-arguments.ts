import {
  isBrought,
  type Json,
  type JsonObject,
  type MaybePromise,
  type SchemaValidator,
  type ToolFailure,
  type Validate,
  type Validation,
} from '../../contracts/index.ts'
import { inexactNumber, inexactProblem } from '../../util/inexact-number.ts'
import { parseJsonObject } from '../../util/json-values.ts'
import { cutText } from '../../util/well-formed.ts'
import type { OfferedTool } from './tool-registry.ts'

export type Arguments =
  | { readonly ok: true; readonly input: JsonObject; readonly reason: string | undefined }
  | { readonly ok: false; readonly failure: ToolFailure }

/** Parses, repairs and validates, and removes the reason. Synchronous once the schema is compiled. */
export function parseArguments(validator: SchemaValidator, offered: OfferedTool, text: string): MaybePromise<Arguments> {
  const validate = validateOf(validator, offered)
  // Some models send an empty text for a tool without parameters.
  const parsed = parseJsonObject(text) ?? (text.trim() === '' ? {} : undefined)
  if (parsed && !(validate instanceof Promise)) return inexactArguments(offered, text) ?? checkArguments(offered, parsed, validate)
  return repairAndCheck({ validator, offered, text, parsed, validate })
}

/** The client knows its schemas. */
export const validateOf = (validator: SchemaValidator, { tool }: OfferedTool): MaybePromise<Validate> =>
  isBrought(tool) ? anything : validator.compile(tool.inputSchema)

const anything: Validate = (value) => ({ ok: true, value })

interface Repair {
  readonly validator: SchemaValidator
  readonly offered: OfferedTool
  readonly text: string
  readonly parsed: JsonObject | undefined
  readonly validate: MaybePromise<Validate>
}

async function repairAndCheck({ validator, offered, text, parsed, validate }: Repair): Promise<Arguments> {
  const repaired = parsed ? undefined : await validator.repair(text)
  const object = parsed ?? (repaired === undefined ? undefined : parseJsonObject(repaired))
  if (object) return inexactArguments(offered, repaired ?? text) ?? checkArguments(offered, object, await validate)
  const shown = text.length > 200 ? `${cutText(text, 200)}…` : text
  return {
    ok: false,
    failure: {
      class: 'invalid_input',
      message: `The arguments of "${offered.name}" are not a JSON object: ${shown}`,
      remedy: 'Send one JSON object.',
    },
  }
}

/** Validates against the tool's own schema, without the reason field. */
export function checkArguments(offered: OfferedTool, object: JsonObject, validate: Validate): MaybePromise<Arguments> {
  const reason = object[offered.reasonField]
  const input = reason === undefined ? object : without(object, offered.reasonField)
  const validation = validate(input)
  if (validation instanceof Promise) return validation.then((found) => validatedArguments(offered, found, reason))
  return validatedArguments(offered, validation, reason)
}

function validatedArguments(offered: OfferedTool, validation: Validation, reason: Json | undefined): Arguments {
  if (validation.ok)
    return {
      ok: true,
      input: validation.value as JsonObject,
      reason: typeof reason === 'string' && reason.trim() !== '' ? reason.trim() : undefined,
    }
  return invalidArguments(offered, validation.problems)
}

/** Rejects numbers that JavaScript cannot represent: a changed id or amount would go unnoticed. */
function inexactArguments(offered: OfferedTool, json: string): Arguments | undefined {
  const found = inexactNumber(json)
  return found === undefined ? undefined : invalidArguments(offered, [inexactProblem(found)])
}

function invalidArguments({ name }: OfferedTool, problems: readonly string[]): Arguments {
  const message = `Invalid arguments for "${name}": ${problems.join('; ')}.`
  return { ok: false, failure: { class: 'invalid_input', message, remedy: 'Correct them and call again.' } }
}

function without(object: JsonObject, field: string): JsonObject {
  const { [field]: _, ...rest } = object
  return rest
}
