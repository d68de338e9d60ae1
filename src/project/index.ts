export { readSettings } from '../yaml/frontmatter.ts'
export { parseAgentFile, readAgentText } from './agent-file/agent-file.ts'
export { agentFileSchema } from './agent-file/agent-file-schema.ts'
export { agentTemplate } from './agent-file/agent-template.ts'
export { type OverrideArguments, parseOverrides } from './agent-file/overrides.ts'
export type { ConfigDiagnostic } from './config/config.ts'
export { configSchema } from './config/config-schema.ts'
export {
  type ConfiguredServer,
  resolveServer,
  serversOf,
} from './config/configured-servers.ts'
export { optionDefaults } from './config/effective-options.ts'
export { type ExtensionConfig, extensionConfigsOf } from './config/extension-configs.ts'
export { nodeConfigFileSystem } from './config/files/config-file-system.ts'
export { makeFolders } from './config/files/make-folders.ts'
export { redactSettings, secretName } from './config/hide-secrets.ts'
export { loadConfig } from './config/load-config.ts'
export {
  agentPathsOf,
  type HeadendSettings,
  headendProblems,
  hooksOf,
  isDocumentFile,
  modelAliasesOf,
  sandboxOf,
  skillsOf,
  type TelemetrySettings,
} from './config/section-values.ts'
export { mustShowInFull, trustEffect } from './config/sections.ts'
export { readShape, type Shape } from './config/shape.ts'
export { type ConfigRow, configRows } from './config/show-config.ts'
export { placeOf, type Sourced, sourcedAt, sourcedToJson } from './config/sourced.ts'
export { documentFilesIn, listHookFiles } from './config/trust/hook-files.ts'
export { readFileStates, type TrustPlace, trustFiles } from './config/trust/trust-files.ts'
export { contentHash, type FileState, type TrustRecord, type TrustRecords, trustOf } from './config/trust/trust-records.ts'
export type { TrustStore } from './config/trust/trust-store.ts'
export { restToolNames } from './config/unknown-names.ts'
export { type Overlay, overlayFor } from './config/variables/overlay.ts'
export { variablePlaces } from './config/variables/resolve-placeholders.ts'
export { dialectFolders } from './dialects/detect-dialect.ts'
export type { GrantRecord } from './grants/grant-records.ts'
export { type UserGrants, userGrants } from './grants/project-grants.ts'
export { type AgentSource, loadForProgram, type ProgramFiles } from './load-for-program.ts'
export { type LoadProjectOptions, loadProject, loadProjectsAt, readAgent } from './load-project.ts'
export { mcpOptionsOf, pinFileOf } from './mcp/mcp-options.ts'
export { modelProblems, unknownModels } from './models/check-model-names.ts'
export { findModels, modelOptions } from './models/find-models.ts'
export { type ConnectedProvider, type ConnectResult, ModelConnections, type PastedKeyRequest } from './models/model-connections.ts'
export { unpricedBeforeResolving } from './models/model-prices.ts'
export { checkProject, openProject, schemaErrors, validAgents } from './open-project.ts'
export { type Drained, type OpenedRuntime, openRuntime } from './open-runtime.ts'
export {
  type AgentOption,
  type AgentOptionKey,
  agentOptionKeys,
  agentOptions,
} from './options/agent-options.ts'
export type { AgentOverrides } from './options/option-values.ts'
export type { OpenProjectOptions, Project, ProjectReport } from './project-report.ts'
export type { AgentDiagnostic } from './registry/agent-diagnostic.ts'
export { fileOfServers } from './registry/agent-servers.ts'
export { agentSkills } from './registry/agent-skills.ts'
export { findAgentPaths } from './registry/find-agent-paths.ts'
export { loadRegistry, type Registry } from './registry/load-registry.ts'
export type { LeftOutAgent } from './registry/missing-tools.ts'
export { listAgentNames } from './registry/project-agents.ts'
export { type FoundAgent, type RegisteredAgent, registeredTemplate } from './registry/registered-agent.ts'
export type { RegistryOptions } from './registry/registry-options.ts'
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
export { extensionFolders, extensionIds, hasExtensions, projectExtensions } from './setup/extension-folders.ts'
export { withStore } from './setup/open-place.ts'
export { packageFile } from './setup/package-file.ts'
export { packageVersion } from './setup/package-version.ts'
export type { ProjectPlace } from './setup/project-place.ts'
export { projectRecords, projectScope } from './setup/project-records.ts'
export {
  type ConfigOptions,
  loadSetup,
  type ReadSetup,
  readSetup,
  type Setup,
  setupWithoutConfig,
  trustPathOf,
  trustPlaceOf,
} from './setup/read-setup.ts'
export { realPath } from './setup/real-path.ts'
export { hasStore, sessionPlace, withSessions } from './setup/session-store.ts'
export {
  isAboutTrust,
  isAlarming,
  leftOutAgents,
  type StartDiagnostic,
  sentenceOf,
  withIgnoredSettings,
} from './setup/start-diagnostics.ts'
export { isDatabaseUrl, type StorePlace, storeName, storePlaceOf } from './setup/store-place.ts'
export { renderFile } from './templates/render-file.ts'
export { renderText } from './templates/render-text.ts'
export { type UntrustedFile, withImports } from './trust/untrusted-files.ts'
export { decodeText } from './values/decode-text.ts'
export type { ValueType } from './values/read-value.ts'
export { type Delivery, type DeliveryTable, deliveryTable, retryDeliveries } from './webhooks/stored-deliveries.ts'
export type { DeliveryCounts, WebhookDeliveries } from './webhooks/webhook-deliveries.ts'
export { type IncomingWebhook, type OutgoingWebhook, type WebhookSettings, webhooksOf } from './webhooks/webhook-settings.ts'
export { githubSignature, isSameSecret, standardSignature } from './webhooks/webhook-signature.ts'
export { configuredHttpTools, httpSecrets, type ListedDocument, listDocuments } from './workspace/http-tools.ts'
export { openWorkspaceKit } from './workspace/open-workspace-kit.ts'
export { findProjectSkills, skillOptionsOf } from './workspace/project-skills.ts'
export { type WorkspaceToolProblems, workspaceToolProblems } from './workspace/workspace-tool-problems.ts'
export { createWorkspaceTools } from './workspace/workspace-tools.ts'
