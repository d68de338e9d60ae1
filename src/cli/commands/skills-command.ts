import type { Problem } from '../../contracts/index.ts'
import { findProjectSkills, loadSetup, sentenceOf, skillOptionsOf } from '../../project/index.ts'
import type { FoundSkills } from '../../tools/skills/index.ts'
import type { SkillsInvocation } from '../arguments/project-invocations.ts'
import { columns, columnsOn, type Row } from '../terminal/columns.ts'
import { exitCodes } from '../terminal/exit-codes.ts'
import { printNotice, printWarning } from '../terminal/print-messages.ts'
import { printable } from '../terminal/printable.ts'
import type { Host } from '../terminal/process-host.ts'
import { safeJson } from '../terminal/safe-json.ts'

/** `troupe skills list`: the skills that agents can load, those that they shadow, and errors. */
export async function skillsCommand({ output, display, configFile }: SkillsInvocation, host: Host): Promise<number> {
  const { config, diagnostics } = await loadSetup(host, { configFile })
  const found = findProjectSkills(host, skillOptionsOf(config))
  // An untrusted configuration may be why a skill is missing.
  const problems = [...found.problems, ...diagnostics.filter(({ severity }) => severity !== 'info')]
  const { code } = exitCodes.done
  if (output === 'json') {
    await host.stdout.line(safeJson({ ...skillsDocument(found, problems), exitCode: code }))
    return code
  }
  const rows = skillRows(found)
  if (rows.length > 0) await host.stdout.lines(columns(rows, { maxWidth: columnsOn(host.stdout) }))
  else await printNotice('No skills found here.', { host, display })
  for (const { card, by, kind } of found.shadowed)
    await printNotice(
      `${card.path}: ${kind === 'shadowed' ? 'shadowed by a nearer skill of this name' : 'the name is in use'}: ${by.path}`,
      {
        host,
        display,
      },
    )
  for (const { name, path } of found.disabled) await printNotice(`${path}: ${name} is disabled by the configuration`, { host, display })
  for (const problem of problems) await printWarning(sentenceOf(problem), { host, display })
  return code
}

/** Skills with their metadata. */
export function skillsDocument({ skills, details, shadowed, disabled }: FoundSkills, problems: readonly Problem[]) {
  return {
    ok: true,
    skills: skills.map((card) => ({ ...card, ...details.get(card.name) })),
    shadowed,
    disabled,
    problems: problems.map(({ place, message, remedy }) => ({ place, message, ...(remedy !== undefined && { remedy }) })),
  }
}

export const skillRows = ({ skills, details }: FoundSkills): readonly Row[] =>
  skills.map(({ name, displayName, description, scope, path, promptHint }): Row => {
    const { license, compatibility, metadata = {} } = details.get(name) ?? {}
    const hints = [
      ...(promptHint === undefined ? [] : [`try: ${promptHint}`]),
      ...(compatibility === undefined ? [] : [`needs: ${compatibility}`]),
    ]
    const others = Object.entries(metadata).map(([key, value]) => `${key}: ${value}`)
    const facts = [scope, path, displayName, license, ...others].filter((fact) => fact !== undefined)
    return [name, [description, ...hints, facts.join(' · ')].map(printable).join('\n')]
  })
