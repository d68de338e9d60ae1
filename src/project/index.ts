export { readSettings, type Setting, settingOf } from '../yaml/frontmatter.ts'
export { type AgentFile, type AgentFileOptions, parseAgentFile, type ReadAgent, readAgentText } from './agent-file/agent-file.ts'
export { agentFileSchema } from './agent-file/agent-file-schema.ts'
export { agentTemplate, type TemplateAgent } from './agent-file/agent-template.ts'
export { type FlagArgument, type OverrideArguments, parseOverrides } from './agent-file/overrides.ts'
export { type Config, type ConfigDiagnostic, configuredText, type PendingFile } from './config/config.ts'
export { type ConfigPlaces, folderOf, isOwnLayer } from './config/config-places.ts'
export { configSchema } from './config/config-schema.ts'
export {
  type ConfiguredServer,
  resolveServer,
  serversOf,
} from './config/configured-servers.ts'
export { optionDefaults } from './config/effective-options.ts'
export { type ConfigFileSystem, nodeConfigFileSystem } from './config/files/config-file-system.ts'
export { withLock } from './config/files/file-lock.ts'
export { makeFolders } from './config/files/make-folders.ts'
export { redactSettings } from './config/hide-secrets.ts'
export { configError, loadConfig, readConfig } from './config/load-config.ts'
export {
  agentPathsOf,
  approvalsOf,
  type ConfiguredApprovals,
  type ConfiguredContext,
  type ConfiguredHook,
  type ConfiguredSkills,
  type ConfiguredTool,
  childrenOfferedOf,
  contextOf,
  featuresOf,
  type HeadendSettings,
  headendsOf,
  hooksOf,
  isDocumentFile,
  type ModelPrice,
  type OnUnavailable,
  openApisOf,
  pricesOf,
  queuesOf,
  restToolsOf,
  sandboxOf,
  skillsOf,
  storePathOf,
  type TelemetrySettings,
  telemetryOf,
  toolsOfferedOf,
  unpricedOf,
} from './config/section-values.ts'
export { mustShowInFull, trustEffect } from './config/sections.ts'
export { type ConfigRow, configRows } from './config/show-config.ts'
export { placeOf } from './config/sourced.ts'
export { documentFilesIn, listHookFiles } from './config/trust/hook-files.ts'
export { readFileStates, type TrustPlace, trustFiles } from './config/trust/trust-files.ts'
export { contentHash, type FileState, type TrustRecord, type TrustRecords, trustOf } from './config/trust/trust-records.ts'
export { fileTrustStore, type TrustStore } from './config/trust/trust-store.ts'
export { openApiNames, restToolNames, unknownSkills, unknownTools, unusedQueues } from './config/unknown-names.ts'
export { readOptionVariables } from './config/variables/option-variables.ts'
export { type Overlay, overlayFor, variablesOf } from './config/variables/overlay.ts'
export { type Environment, type VariableSources, variablePlaces, variablesIn } from './config/variables/resolve-placeholders.ts'
export { dialectFolders } from './dialects/detect-dialect.ts'
export type { GrantRecord } from './grants/grant-records.ts'
export { projectGrants, type UserGrants, userGrants } from './grants/project-grants.ts'
export { type AgentSource, type DefinedAgent, type LoadedForProgram, loadForProgram, type ProgramFiles } from './load-for-program.ts'
export { type LoadProjectOptions, loadProject, loadProjectsAt, readAgent } from './load-project.ts'
export { mcpOptionsOf, pinFileOf } from './mcp/mcp-options.ts'
export { unknownModels } from './models/check-model-names.ts'
export { findModels, modelOptions } from './models/find-models.ts'
export { unpricedBeforeResolving } from './models/model-prices.ts'
export { checkProject, openProject, schemaErrors, validAgents } from './open-project.ts'
export { type Drained, type OpenedRuntime, openRuntime, type RuntimeSettings } from './open-runtime.ts'
export {
  type AgentOption,
  type AgentOptionKey,
  agentOptionKeys,
  agentOptions,
} from './options/agent-options.ts'
export type { AgentOverrides } from './options/option-values.ts'
export type { OpenProjectOptions, Project, ProjectReport } from './project-report.ts'
export type { AgentDiagnostic } from './registry/agent-diagnostic.ts'
export { fileOfServers, type UntrustedServers } from './registry/agent-servers.ts'
export { type AgentSkills, agentSkills, type SkillRequest } from './registry/agent-skills.ts'
export { findAgentPaths } from './registry/find-agent-paths.ts'
export { isAgentFile } from './registry/load-foreign-file.ts'
export { loadRegistry, type Registry, registryError } from './registry/load-registry.ts'
export type { ReadableFile } from './registry/loaded-file.ts'
export { projectAgentPaths } from './registry/project-agents.ts'
export { type FoundAgent, type RegisteredAgent, registeredTemplate } from './registry/registered-agent.ts'
export type { RegistryOptions } from './registry/registry-options.ts'
export type { ImportModules, ToolModule } from './registry/tool-modules.ts'
export { checkServedNames } from './served-agents.ts'
export { agentFileOf, type CommandPlace, dataDirFlag, flagWords, resumeHint } from './sessions/resume-hint.ts'
export {
  changedSettings,
  changeNotices,
  flagsToRepeat,
  modelFlags,
  openOptionsOf,
  originIn,
  originOf,
  type StoredSettings,
  storedSettings,
  unchangeableError,
  withModelsOf,
  withStoredSettings,
} from './sessions/stored-settings.ts'
export { dataDirOf, dataFolder, dataFolderProblem, homeFolder, whyUnwritable } from './setup/data-folder.ts'
export { bundledExtensions, type ExtensionFolder, extensionFolders, hasExtensions, projectExtensions } from './setup/extension-folders.ts'
export { openDataFolder, withDataFolder } from './setup/open-data-folder.ts'
export { packageFile } from './setup/package-file.ts'
export { packageVersion } from './setup/package-version.ts'
export type { ProjectPlace } from './setup/project-place.ts'
export { type ConfigOptions, loadSetup, readSetup, type Setup, setupWithoutConfig, trustPathOf, trustPlaceOf } from './setup/read-setup.ts'
export { realPath } from './setup/real-path.ts'
export { sessionFolder, withSessions } from './setup/session-store.ts'
export { isAboutTrust, type StartDiagnostic, sentenceOf, withIgnoredSettings } from './setup/start-diagnostics.ts'
export { renderFile } from './templates/render-file.ts'
export { type UntrustedFile, withImports } from './trust/untrusted-files.ts'
export { decodeText } from './values/decode-text.ts'
export { readValue, type ValueSpec, type ValueType } from './values/read-value.ts'
export { httpSecrets, type ListedDocument, listDocuments } from './workspace/http-tools.ts'
export { openWorkspaceKit } from './workspace/open-workspace-kit.ts'
export { findProjectSkills, skillOptionsOf } from './workspace/project-skills.ts'
export { type WorkspaceToolProblems, workspaceToolProblems } from './workspace/workspace-tool-problems.ts'
export { createWorkspaceTools } from './workspace/workspace-tools.ts'
