// What kinds of regions are called, and their colours: one colour a family, so that a page stays calm.
import { inKorean } from "./words.js";

// label: [English, Korean, family]
const LABELS = {
  abstract: ["abstract", "초록", "text"], algorithm: ["algorithm", "알고리즘", "code"], aside_text: ["margin text", "여백 글", "margin"],
  chart: ["chart", "차트", "picture"], content: ["contents", "차례", "text"], display_formula: ["formula", "수식", "formula"],
  doc_title: ["title", "제목", "title"], figure_title: ["caption", "그림 제목", "note"], footer: ["footer", "바닥글", "margin"],
  footer_image: ["figure", "그림", "picture"], footnote: ["footnote", "각주", "note"], formula_number: ["formula number", "수식 번호", "note"],
  header: ["header", "머리글", "margin"], header_image: ["figure", "그림", "picture"], image: ["figure", "그림", "picture"],
  inline_formula: ["formula", "수식", "formula"], number: ["page number", "쪽 번호", "margin"], paragraph_title: ["heading", "소제목", "title"],
  reference: ["reference", "참고문헌", "note"], reference_content: ["reference", "참고문헌", "note"], seal: ["seal", "도장", "picture"],
  table: ["table", "표", "table"], text: ["text", "글", "text"], vertical_text: ["text", "글", "text"], vision_footnote: ["note", "주", "note"],
};

export function plainLabel(label) {
  const known = Object.hasOwn(LABELS, label) ? LABELS[label] : null;
  return known ? known[inKorean() ? 1 : 0] : label.replaceAll("_", " ");
}

export const family = (label) => (Object.hasOwn(LABELS, label) ? LABELS[label][2] : "other");

// A document's name without the folder or the job that keeps equal names apart.
export const plainName = (name) => name.replace(/^([0-9a-f]{16}|job:[0-9a-f]+)\//, "");
