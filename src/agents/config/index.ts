/*
 * 1. Whoever says something is known: every value has its origin, and what does not count is named.
 * 2. A project's words that could run code, read a variable, send something elsewhere or loosen a rule count only once a
 *    person has trusted that very content at that very place.
 * 3. Variables are put in once, only in what is asked for; nobody here reads the environment of the process.
 * 4. Files are read and written through `ConfigFiles`; everything else is pure.
 */
export {
  type Config,
  configuredText,
  type Layer,
  type PendingFile,
  type SettingsFile,
  sectionByLayer,
  settingsOf,
  type VariableFile,
} from './config.ts'
export type { ConfigFiles } from './config-files.ts'
export { configSchema } from './config-schema.ts'
export type { ConfigDiagnostic } from './diagnostic.ts'
export { type EffectiveOption, effectiveOptions, type OptionSources, optionDefaults } from './effective-options.ts'
export { type EnvVariable, parseEnv } from './env-file.ts'
export { idleQueues } from './idle-queues.ts'
export { configError, type LoadConfigOptions, loadConfig, type ReadConfig, readConfig } from './load-config.ts'
export { makeFolders } from './make-folders.ts'
export { nodeConfigFiles } from './node-config-files.ts'
export { type OptionVariables, readOptionVariables, variableOf } from './option-variables.ts'
export { type FileOrigin, type LayerName, type Origin, showOrigin, showPath } from './origin.ts'
export { linkOut } from './over-link.ts'
export { type Overlay, type OverlayProvider, overlayFor, variablesOf } from './overlay.ts'
export type { ConfigPlaces } from './places.ts'
export {
  approvalsOf,
  type ConfiguredApprovals,
  type ConfiguredContext,
  type ConfiguredHook,
  type ConfiguredSkills,
  contextOf,
  hooksOf,
  type OnUnavailable,
  sandboxOf,
  skillsOf,
} from './policy-sections.ts'
export {
  type Environment,
  type Part,
  type Resolved,
  resolveParts,
  type UsedVariable,
  type VariableSources,
  variablePlaces,
} from './resolve.ts'
export { isDecisive, powerOf } from './section-words.ts'
export { type SectionName, sectionNames } from './sections.ts'
export { type ConfigRow, configRows } from './show-config.ts'
export { keysOf, type Leaf, leavesOf, type Sourced, type SourcedMap, type SourcedValue, sourcedAt } from './sourced.ts'
export { readTrust, revokeTrust, statesOf, type TrustPlace, trustFiles } from './trust-file.ts'
export { type HookBinding, hookBindings } from './trust-hooks.ts'
export { contentHash, type FileState, type TrustRecord, type TrustRecords, type TrustStatus, trustOf, withTrust } from './trust-records.ts'
export {
  agentPathsOf,
  childrenOfferedOf,
  featuresOf,
  type ModelPrice,
  pricesOf,
  type QueueLimits,
  queuesOf,
  storePathOf,
  unpricedOf,
} from './typed-sections.ts'
export { configuredSources, type UnknownNames, unknownSkills, unknownTools } from './unknown-names.ts'
