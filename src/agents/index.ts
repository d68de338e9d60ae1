export {
  type AgentFile,
  type AgentFileOptions,
  parseAgentFile,
  type ReadAgent,
  readAgentText,
} from './agent-file.ts'
export { agentFileSchema } from './agent-file-schema.ts'
export { type AgentOption, type AgentOptionKey, type AgentOptionType, agentOptionKeys, agentOptions, keysToCome } from './agent-options.ts'
export { agentTemplate, type TemplateAgent } from './agent-template.ts'
export { builtinToolNames } from './builtin-tool-names.ts'
export {
  approvalsOf,
  type Config,
  type ConfigDiagnostic,
  type ConfigFiles,
  type ConfigPlaces,
  type ConfigRow,
  type ConfiguredApprovals,
  type ConfiguredContext,
  type ConfiguredHook,
  type ConfiguredSkills,
  childrenOfferedOf,
  configError,
  configRows,
  configSchema,
  contextOf,
  type Environment,
  type FileState,
  featuresOf,
  hookBindings,
  hooksOf,
  idleQueues,
  isDecisive,
  loadConfig,
  type ModelPrice,
  makeFolders,
  nodeConfigFiles,
  type OnUnavailable,
  type Overlay,
  overlayFor,
  type PendingFile,
  powerOf,
  pricesOf,
  queuesOf,
  readConfig,
  readOptionVariables,
  readTrust,
  revokeTrust,
  sandboxOf,
  skillsOf,
  statesOf,
  storePathOf,
  type TrustPlace,
  type TrustRecord,
  type TrustRecords,
  trustFiles,
  trustOf,
  unpricedOf,
  variablePlaces,
} from './config/index.ts'
export { dialectFolders } from './dialects/index.ts'
export { type AgentSource, type DefinedAgent, type FilesForPrograms, type ReadForProgram, readForProgram } from './files-for-programs.ts'
export { isVainLeaving, leavingForms } from './leaving-rules.ts'
export { ruledToolNames } from './misspelt-rules.ts'
export { type AgentOverrides, parseOverrides, type WrittenFlag, type WrittenOverrides } from './overrides.ts'
export { contextFile, findProjectRoot, type ProjectContext, projectContext } from './project-context/index.ts'
export {
  type AgentDiagnostic,
  type AgentSkills,
  agentSkills,
  type FoundAgent,
  findAgentPaths,
  isAgentFile,
  loadRegistry,
  type RegisteredAgent,
  type Registry,
  type RegistryOptions,
  registeredTemplate,
  registryError,
  type SaidByFile,
  usualAgentPaths,
  type WantingSkills,
} from './registry/index.ts'
export {
  adminSkillDirectories,
  type FoundSkills,
  findSkills,
  type SkillProblem,
  selectSkills,
  userSkillDirectories,
} from './skills/index.ts'
