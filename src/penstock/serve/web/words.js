// The words of the page, in two languages. A browser's language decides until someone switches.
import { tell } from "./bus.js";

const WORDS = {
  en: {
    skip: "To the content", search: "Search all pages", find: "Search", views: "Views", documents: "Documents", review: "Review", runs: "Runs",
    drop: "Drop files here, or choose them", measure: "Photos: measure the things in them", office: "Office, HWP:", officeUsual: "as the service reads them", officeStructure: "their own structure", officeBoth: "structure, with boxes", officePages: "as printed pages", none: "There are no documents yet.", thumbs: "Pages", page: "Page", kinds: "Kinds of regions",
    text: "Text", panes: "Parts of the view", hello: "Choose a document.", found: "Search results",
    key: "This service wants a key", keyWhy: "It is kept in this tab and goes when you close it.", keyField: "Key", keySend: "Use this key", keyWrong: "That key was refused.",
    light: "Light", dark: "Dark", auto: "Auto", theme: "Colours: {0}", otherLanguage: "한국어",
    waiting: "waiting", reading: "reading", pages: "{0} pages", onePage: "1 page", progress: "{0} of {1}", failedPages: "{0} failed", busy: "{0} being read",
    gone: "The service does not answer.", more: "Show more", open: "Other machines reach this page, and there is no login.",
    back: "Previous page", on: "Next page", place: "Page {0} of {1}", smaller: "Smaller", larger: "Larger",
    noPicture: "There is no picture of this page.", notRead: "This page is not read yet.", boxes: "Boxes on the page", box: "{0}. {1}: {2}",
    copy: "Copy", copyPage: "Copy page", copied: "Copied", link: "Link", download: "Download", pageJson: "This page as JSON", markdown: "Markdown", print: "Print",
    failed: "Failed", again: "Try again", againSent: "The failed pages are read again.", sure: "{0} % sure", fromFile: "from the file", empty: "Nothing is on this page.",
    searching: "Searching…", nothing: "Nothing was found.", hits: "{0} pages found", oneHit: "1 page found", toPage: "Open page {0}", toHits: "Back to results",
    things: "Things", thing: "Thing", width: "Width", depth: "Depth", height: "Height", volume: "m³", counted: "Counted", total: "Total", metres: "metres",
    unsure: "unsure", foundTwice: "found twice, counted once", noThings: "Nothing was found in this photo.", photos: "Photos", measuringPhotos: "Measuring: {0} of {1} photos",
    missing: "What is missing?", drawIt: "Draw a box around it",
    commonThings: "sofa, armchair, chair, table, desk, bed, wardrobe, bookcase, cabinet, dresser, tv stand, television, refrigerator, washing machine, lamp, plant, mirror, box",
    corrected: "Corrected by you; kept in this tab.", reset: "As measured", table: "As a table (CSV)", turn: "Turn {0} in 3D", turnHow: "Drag it, or use the arrow keys; the wheel, + and − zoom.", close: "Close",
    draw: "Add a thing: draw a box", drawHow: "Draw a box around the thing, say what it is, and it is measured like the others.", drawKeys: "Box: arrow keys move it, with Shift they change its size, Enter goes on to the name.",
    drawnAt: "{0} % from the left, {1} % from the top, {2} % wide, {3} % high", addThing: "Measure it", leave: "Cancel", measuring: "Measuring…",
    stages: "Stages", stage: "Stage", done: "Done", busyShare: "Busy", starved: "Waits for work", blocked: "Waits for room", now: "Now", queue: "{0} waiting, {1} at work",
    toReview: "To look at, worst first", noReview: "Nothing stands out.", moreReview: "The first {0} are shown.", stands: "What stands there", keep: "Keep", kept: "Kept.", show: "Show it", changes: "{0}: “{1}” became “{2}”",
    jobs: "Jobs", noJobs: "Nothing was sent yet.", failures: "Failures", noFailures: "Nothing has failed.", cancel: "Cancel", remove: "Delete", sureRemove: "Delete this job and its results?",
    queued: "queued", running: "running", cancelled: "cancelled", idle: "Nothing is being read.",
  },
  ko: {
    skip: "본문으로", search: "모든 쪽에서 찾기", find: "찾기", views: "보기", documents: "문서", review: "검토", runs: "작업",
    drop: "파일을 여기에 놓거나 고르세요", measure: "사진: 안에 있는 물건 재기", office: "오피스·HWP:", officeUsual: "서비스 설정대로", officeStructure: "문서 구조 그대로", officeBoth: "구조와 쪽의 상자", officePages: "인쇄한 쪽으로", none: "아직 문서가 없습니다.", thumbs: "쪽", page: "쪽", kinds: "영역 종류",
    text: "글", panes: "화면 부분", hello: "문서를 고르세요.", found: "찾은 결과",
    key: "이 서비스에는 키가 필요합니다", keyWhy: "키는 이 탭에만 보관되고 탭을 닫으면 사라집니다.", keyField: "키", keySend: "이 키 쓰기", keyWrong: "거절된 키입니다.",
    light: "밝게", dark: "어둡게", auto: "자동", theme: "색: {0}", otherLanguage: "English",
    waiting: "대기", reading: "읽는 중", pages: "{0}쪽", onePage: "1쪽", progress: "{1}쪽 중 {0}쪽", failedPages: "{0}쪽 실패", busy: "{0}개 읽는 중",
    gone: "서비스가 응답하지 않습니다.", more: "더 보기", open: "다른 컴퓨터에서도 이 페이지에 들어올 수 있고 로그인이 없습니다.",
    back: "이전 쪽", on: "다음 쪽", place: "{1}쪽 중 {0}쪽", smaller: "작게", larger: "크게",
    noPicture: "이 쪽의 그림이 없습니다.", notRead: "아직 읽지 않은 쪽입니다.", boxes: "쪽 위의 상자", box: "{0}. {1}: {2}",
    copy: "복사", copyPage: "쪽 복사", copied: "복사했습니다", link: "링크", download: "내려받기", pageJson: "이 쪽 JSON", markdown: "Markdown", print: "인쇄",
    failed: "실패", again: "다시 읽기", againSent: "실패한 쪽을 다시 읽습니다.", sure: "신뢰도 {0} %", fromFile: "파일에 적힌 글", empty: "이 쪽에는 아무것도 없습니다.",
    searching: "찾는 중…", nothing: "찾은 것이 없습니다.", hits: "{0}쪽 찾음", oneHit: "1쪽 찾음", toPage: "{0}쪽 열기", toHits: "결과로 돌아가기",
    things: "물건", thing: "물건", width: "너비", depth: "깊이", height: "높이", volume: "m³", counted: "포함", total: "합계", metres: "미터",
    unsure: "불확실", foundTwice: "두 번 찾았으나 한 번만 셈", noThings: "이 사진에서 물건을 찾지 못했습니다.", photos: "사진", measuringPhotos: "재는 중: 사진 {1}장 중 {0}장",
    missing: "빠진 것이 있나요?", drawIt: "상자를 그려 더하기",
    commonThings: "소파, 안락의자, 의자, 식탁, 책상, 침대, 옷장, 책장, 수납장, 서랍장, 거실장, 텔레비전, 냉장고, 세탁기, 스탠드, 화분, 거울, 상자",
    corrected: "직접 고친 값이며 이 탭에만 남습니다.", reset: "잰 값으로", table: "표로 (CSV)", turn: "{0} 3D로 돌려 보기", turnHow: "끌거나 화살표 키로 돌리고, 휠이나 +, −로 크기를 바꿉니다.", close: "닫기",
    draw: "물건 더하기: 상자 그리기", drawHow: "물건 둘레에 상자를 그리고 무엇인지 적으면 다른 물건과 같은 방법으로 잽니다.", drawKeys: "상자: 화살표 키로 옮기고, Shift와 함께 누르면 크기가 바뀌며, Enter를 누르면 이름으로 갑니다.",
    drawnAt: "왼쪽에서 {0} %, 위에서 {1} %, 너비 {2} %, 높이 {3} %", addThing: "재기", leave: "그만두기", measuring: "재는 중…",
    stages: "단계", stage: "단계", done: "끝남", busyShare: "가동", starved: "입력 대기", blocked: "출력 대기", now: "지금", queue: "대기 {0}, 작업 {1}",
    toReview: "살펴볼 곳, 나쁜 것부터", noReview: "눈에 띄는 것이 없습니다.", moreReview: "앞의 {0}곳을 보입니다.", stands: "실제로 적힌 글", keep: "저장", kept: "저장했습니다.", show: "쪽에서 보기", changes: "{0}: “{1}” → “{2}”",
    jobs: "작업", noJobs: "아직 보낸 것이 없습니다.", failures: "실패", noFailures: "실패한 것이 없습니다.", cancel: "취소", remove: "지우기", sureRemove: "이 작업과 결과를 지울까요?",
    queued: "대기", running: "진행 중", cancelled: "취소됨", idle: "읽고 있는 것이 없습니다.",
  },
};
const KEPT = "penstock-language";

let language = localStorage.getItem(KEPT) ?? (navigator.language.startsWith("ko") ? "ko" : "en");
if (!(language in WORDS)) language = "en";

export const inKorean = () => language === "ko";

export function say(word, ...given) {
  return WORDS[language][word].replace(/\{(\d)\}/g, (_, number) => given[number]);
}

export function switchLanguage() {
  language = inKorean() ? "en" : "ko";
  localStorage.setItem(KEPT, language);
  drawWords();
  tell("words");
}

// Fills what the page itself says: data-say is an element's text, data-say-label its name, data-say-hint its placeholder.
export function drawWords() {
  document.documentElement.lang = language;
  for (const node of document.querySelectorAll("[data-say]")) node.textContent = say(node.dataset.say);
  for (const node of document.querySelectorAll("[data-say-label]")) node.setAttribute("aria-label", say(node.dataset.sayLabel));
  for (const node of document.querySelectorAll("[data-say-hint]")) node.placeholder = say(node.dataset.sayHint);
}
