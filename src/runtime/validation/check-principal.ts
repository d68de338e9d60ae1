import { type Principal, type Problem, principalKinds } from '../../contracts/index.ts'
import { aString, checkOnlyFields, expectObject, type FieldType, oneOf, optional } from '../../util/option-problems.ts'

const maxIdLength = 512

export const shortText = (expected: string): FieldType => ({
  expected: `${expected} of at most ${maxIdLength} characters`,
  remedy: 'Pass a non-empty string.',
  accepts: (value) => typeof value === 'string' && value !== '' && value.length <= maxIdLength && value.isWellFormed(),
})

const principalFields: { readonly [Key in keyof Required<Principal>]: FieldType } = {
  id: shortText('an id'),
  kind: oneOf(principalKinds),
  name: optional({ ...aString, expected: 'a name', accepts: (value) => typeof value === 'string' && value !== '' }),
}

export function checkPrincipal(problems: Problem[], principal: unknown): void {
  const place = 'options.principal'
  if (expectObject(problems, principal as object | undefined, place))
    checkOnlyFields(problems, principal as object, { fields: principalFields, place })
}
