import { skillsOf } from '../agents/index.ts'
import type { SkillsInvocation } from './agents-invocations.ts'
import { columns, type Row } from './columns.ts'
import { loadSetup } from './config-setup.ts'
import { exitCodes } from './exit-codes.ts'
import { findProjectSkills } from './find-project-skills.ts'
import type { Host } from './host.ts'
import { printable } from './paint.ts'
import { safeJson } from './safe-json.ts'
import { tellNotice, tellWarning } from './tell.ts'

/** `troupe skills list`: what can be loaded, what is hidden behind it, and what is wrong with any. */
export async function skillsCommand({ output, wishes, configFile }: SkillsInvocation, host: Host): Promise<number> {
  const { config, workingDirectory, diagnostics } = await loadSetup(host, configFile === undefined ? {} : { configFile })
  const { skills, shadowed, disabled, problems: wrong } = findProjectSkills(workingDirectory, skillsOf(config))
  // A configuration that does not count for want of trust may be why a skill is not there.
  const problems = [...wrong, ...diagnostics.filter(({ severity }) => severity !== 'info')]
  const { code } = exitCodes.done
  if (output === 'json') {
    const told = problems.map(({ place, message, remedy }) => ({ place, message, ...(remedy !== undefined && { remedy }) }))
    await host.stdout.line(safeJson({ ok: true, skills, shadowed, disabled, problems: told, exitCode: code }))
    return code
  }
  const rows = skills.map(({ name, displayName, description, scope, path, promptHint }): Row => {
    const hint = promptHint === undefined ? [] : [`try: ${printable(promptHint)}`]
    const facts = [scope, path, ...(displayName === undefined ? [] : [displayName])]
    return [name, [printable(description), ...hint, printable(facts.join(' · '))].join('\n')]
  })
  if (rows.length > 0) await host.stdout.lines(columns(rows))
  else await tellNotice('There are no skills here.', { host, wishes })
  for (const { card, by, kind } of shadowed)
    await tellNotice(`${card.path}: ${kind === 'shadowed' ? 'hidden by a nearer one' : 'the name is taken'}: ${by.path}`, { host, wishes })
  for (const { name, path } of disabled) await tellNotice(`${path}: ${name} is switched off by the configuration`, { host, wishes })
  for (const { place, message, remedy } of problems)
    await tellWarning(`${place}: ${message}${remedy === undefined ? '' : `. ${remedy}`}`, { host, wishes })
  return code
}
