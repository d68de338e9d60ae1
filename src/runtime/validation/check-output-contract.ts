import type { OutputContract, Problem } from '../../contracts/index.ts'
import { checkSchema } from '../../util/json-schema/check-schema.ts'
import { checkKeys, isPlainRecord } from '../../util/option-problems.ts'
import { showValue } from '../../util/show-value.ts'

const formats: readonly unknown[] = ['text', 'markdown', 'json'] satisfies OutputContract['format'][]

export function outputProblems(output: unknown): readonly Problem[] {
  const place = 'options.output'
  if (output === undefined) return []
  if (!isPlainRecord(output) || !formats.includes(output.format))
    return [
      { place, message: `expected { format: "text", "markdown" or "json" }, found ${showValue(output)}`, remedy: 'Add a schema for json.' },
    ]
  const problems: Problem[] = []
  checkKeys(problems, output, { known: output.format === 'json' ? ['format', 'schema'] : ['format'], place })
  return output.schema === undefined ? problems : [...problems, ...checkSchema(output.schema, `${place}.schema`, 'any')]
}
