// The exports of `troupe/project`: agents, configuration and trust of a folder, as the command line reads them.
export {
  type LoadProjectOptions,
  loadProject,
  type OpenProjectOptions,
  type Project,
  type ProjectReport,
} from './project/index.ts'
