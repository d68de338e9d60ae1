import type { ErrorObject } from 'ajv/dist/2020.js'
import type { JsonSchema } from '../../contracts/index.ts'
import { propertiesIn, reachableSchemas } from './reachable-schemas.ts'

/** One problem. `members` are its causes: why each schema of a choice does not match. */
export interface GroupedError {
  readonly error: ErrorObject
  readonly members: readonly ErrorObject[]
}

// Grouping takes quadratic time, and only the first errors are shown.
const mostErrors = 500

/**
 * Takes the noise out: a value that fits no branch of an `anyOf` has errors of every branch. Where only one
 * branch can be meant, only its errors are kept; otherwise they are the members of the error of the choice.
 */
export function groupErrors(errors: readonly ErrorObject[], root: JsonSchema): readonly GroupedError[] {
  const sets = new Map<unknown, ReadonlySet<unknown>>()
  const reach = (schema: unknown): ReadonlySet<unknown> => {
    const known = sets.get(schema) ?? reachableSchemas(schema, root)
    sets.set(schema, known)
    return known
  }
  const grouped = group(errors.slice(0, mostErrors), reach)
  return grouped.filter(({ error }) => !isUnevaluatedEcho(error, grouped, root))
}

/** Properties of a schema that does not match are also reported as unevaluated. The other error says more. */
function isUnevaluatedEcho(error: ErrorObject, errors: readonly GroupedError[], root: JsonSchema): boolean {
  if (error.keyword !== 'unevaluatedProperties') return false
  const isOther = ({ error: other }: GroupedError) => other.keyword !== error.keyword && isWithin(other.instancePath, error.instancePath)
  return errors.some(isOther) && propertiesIn(error.parentSchema ?? {}, root).has(error.params.unevaluatedProperty)
}

type Reachable = (schema: unknown) => ReadonlySet<unknown>

/** The library lists the errors of the parts before the one of the whole. */
function group(errors: readonly ErrorObject[], reach: Reachable): readonly GroupedError[] {
  const whole = errors.findLastIndex(isChoice)
  const choice = errors[whole]
  if (choice === undefined) return withoutEchoes(errors)
  const before = errors.slice(0, whole)
  const members = before.filter((error) => belongs(error, choice, reach(choice.schema)))
  const others = before.filter((error) => !members.includes(error))
  const meant = meantBranch(choice, members, reach)
  const own = meant === undefined ? [{ error: choice, members: choice.keyword === 'contains' ? [] : members }] : group(meant, reach)
  return [...group(others, reach), ...own, ...group(errors.slice(whole + 1), reach)]
}

const isChoice = ({ keyword }: ErrorObject): boolean => keyword === 'anyOf' || keyword === 'oneOf' || keyword === 'contains'

function belongs(error: ErrorObject, choice: ErrorObject, schemas: ReadonlySet<unknown>): boolean {
  if (!isWithin(error.instancePath, choice.instancePath)) return false
  return error.schemaPath.startsWith(`${choice.schemaPath}/`) || schemas.has(error.parentSchema)
}

const isWithin = (path: string, around: string): boolean => path === around || path.startsWith(`${around}/`)

/** The errors of the one branch whose kind of value this is, if it is one. */
function meantBranch(choice: ErrorObject, members: readonly ErrorObject[], reach: Reachable): readonly ErrorObject[] | undefined {
  if (choice.keyword === 'contains' || !Array.isArray(choice.schema)) return undefined
  const candidates = choice.schema
    .map((branch: unknown, index) => {
      const branchPath = { ...choice, schemaPath: `${choice.schemaPath}/${index}` }
      return members.filter((error) => belongs(error, branchPath, reach(branch)))
    })
    .filter((errors) => errors.length > 0 && !errors.some((error) => isOtherKind(error, choice)))
  return candidates.length === 1 ? candidates[0] : undefined
}

/** The value has another type, or its discriminating property selects another branch. */
function isOtherKind({ keyword, instancePath }: ErrorObject, choice: ErrorObject): boolean {
  if (instancePath === choice.instancePath) return ['type', 'const', 'enum', 'false schema'].includes(keyword)
  return keyword === 'const' && !instancePath.slice(choice.instancePath.length + 1).includes('/')
}

/** Leaves out errors that only say that others have been found, and types where the allowed values say more. */
function withoutEchoes(errors: readonly ErrorObject[]): readonly GroupedError[] {
  return errors.flatMap((error) => {
    if (error.keyword === 'if' && errors.length > 1) return []
    if (error.keyword === 'propertyNames' && errors.some((other) => other.propertyName === error.params.propertyName)) return []
    const same = errors.filter(
      (other) => other !== error && other.instancePath === error.instancePath && other.parentSchema === error.parentSchema,
    )
    if (error.keyword === 'type' && same.some(namesValues)) return []
    return [{ error, members: namesValues(error) ? same.filter(({ keyword }) => keyword === 'type') : [] }]
  })
}

const namesValues = ({ keyword }: ErrorObject): boolean => keyword === 'enum' || keyword === 'const'
