import type { Json, SandboxPolicy } from '../../contracts/index.ts'
import { showDuration, showSize } from '../../util/parse-units.ts'
import { type Config, isTrustedFile, sectionByLayer, settingsOf } from './config.ts'
import { type EffectiveOption, effectiveOptions, type OptionSources } from './effective-options.ts'
import { redactSettings } from './hide-secrets.ts'
import { sandboxOf } from './section-values.ts'
import { defaultKeys, type SectionName, sectionNames, sectionOf } from './sections.ts'
import { type Leaf, leavesOf, type Origin, type Sourced, showOrigin, showPath } from './sourced.ts'

/** One line of `config show --origin`. */
export interface ConfigRow {
  /** `providers.lab.apiKey`, `limits.maxToolTurns`, `variables.LAB_KEY`. */
  readonly key: string
  /** As it is written; secrets and variables are not shown. */
  readonly value: Json
  readonly origin: string
}

/** Everything that counts, each with who said so: sections as they are written, variables by name, options of agents. */
export function configRows(sources: OptionSources): readonly ConfigRow[] {
  const { config } = sources
  const rows = sectionNames.filter((name) => name !== 'defaults').flatMap((name) => sectionRows(config, name))
  return [...rows, ...variableRows(config), ...optionRows(sources)]
}

/** A section of rules has no merged form here: each layer's words are shown. */
function sectionRows(config: Config, name: SectionName): readonly ConfigRow[] {
  const merged = settingsOf(config, name)
  const trees = sectionOf(name).merge === 'by-layer' ? sectionByLayer(config, name) : merged ? [merged] : []
  return trees.flatMap((tree: Sourced) =>
    leavesOf(tree, [name]).map((leaf) => ({
      key: showPath(leaf.path),
      value: redactSettings(sectionValue(leaf, config), leaf.path),
      origin: showOrigin(leaf.origin),
    })),
  )
}

/** What a project that nobody has trusted says of a sandbox can only take away: shown is what comes of it. */
function sectionValue({ path, value, origin }: Leaf, config: Config): Json {
  const [section, key] = path
  if (section !== 'sandbox' || key === undefined) return value
  const said = isTrustedFile(config, origin.file) ? value : (sandboxOf(config)[key as keyof SandboxPolicy] as Json)
  return key === 'memory' ? showSize(Number(said)) : said
}

/** The strongest layer's word for each name. A layer's own placeholders see its own file first. */
function variableRows({ layers }: Config): readonly ConfigRow[] {
  const rows = new Map<string, ConfigRow>()
  for (const { variables } of layers)
    for (const { file, values } of variables)
      for (const [name, { value, line }] of values)
        if (value !== '' && !rows.has(name))
          rows.set(name, { key: `variables.${name}`, value: '[redacted]', origin: `${file.path}:${line}` })
  return [...rows.values()]
}

function optionRows(sources: OptionSources): readonly ConfigRow[] {
  // What makes an agent itself is no matter of the configuration; where a file says it, it is shown.
  const shownOptions = [...effectiveOptions(sources)].filter(([key, { value }]) => value !== undefined || defaultKeys.includes(key))
  return shownOptions.map(([key, effective]) => ({
    key,
    value: redactSettings(shown(effective), []),
    origin: showOrigin(effective.origin satisfies Origin),
  }))
}

function shown({ value, option }: EffectiveOption): Json {
  if (value === undefined) return option.default
  if (option.type.kind === 'duration' && typeof value === 'number') return showDuration(value)
  if (option.type.kind === 'size' && typeof value === 'number') return showSize(value)
  return value as Json
}
