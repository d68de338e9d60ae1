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
  /** As written, without secrets and values of variables. */
  readonly value: Json
  readonly origin: string
}

/** The effective configuration with origins: sections as written, variables by name, options of agents. */
export function configRows(sources: OptionSources): readonly ConfigRow[] {
  const { config } = sources
  const rows = sectionNames.filter((name) => name !== 'defaults').flatMap((name) => sectionRows(config, name))
  return [...rows, ...variableRows(config), ...optionRows(sources)]
}

/** Sections that are combined by layer have a row for each layer. */
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

/** For the sandbox of an untrusted project, the row shows the resulting value. */
function sectionValue({ path, value, origin }: Leaf, config: Config): Json {
  const [section, key] = path
  if (section !== 'sandbox' || key === undefined) return value
  const effective = isTrustedFile(config, origin.file) ? value : (sandboxOf(config)[key as keyof SandboxPolicy] as Json)
  return key === 'memory' ? showSize(Number(effective)) : effective
}

/** The strongest layer of each name. */
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
  // Options without a default in the configuration are shown only if they are set.
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
