export { loadSkillName, loadSkillTool } from './load-skill.ts'
