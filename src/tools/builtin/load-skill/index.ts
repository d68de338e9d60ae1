export { loadSkillTool } from './load-skill.ts'
