// Made by tools/typescript_client.py from the service's OpenAPI description. Do not edit.

/** A correction: who put it right, when, and what it said before. */
export interface CorrectionAnswer {
  locator: string;
  who: string;
  before: string;
  after: string;
  at: string;
}

/** A document's progress. */
export interface DocumentAnswer {
  name: string;
  /** None until they are counted. */
  pages: number | null;
  done: number;
  /** Pages with any failure. */
  failed: number;
  ready: boolean;
}

/** A document's progress and its pages. */
export interface DocumentPartsAnswer {
  name: string;
  /** None until they are counted. */
  pages: number | null;
  done: number;
  /** Pages with any failure. */
  failed: number;
  ready: boolean;
  parts: Array<PartAnswer>;
}

/** A box around a thing, in the photo's pixels, and what the thing is. */
export interface DrawnBox {
  /** Left, top, right, bottom. */
  box: Array<unknown>;
  label: string;
}

/** Things that someone drew on a photo. */
export interface DrawnBoxes {
  boxes: Array<DrawnBox>;
}

/** A vector for each text. */
export interface EmbedAnswer {
  engine: string;
  vectors: Array<Array<number>>;
}

/** Texts to embed by the engine that embedded the run. */
export interface EmbedQuestion {
  texts: Array<string>;
}

/** What reads: the plan, its servers, the cards, and what waits. */
export interface EnginesAnswer {
  recipe: string;
  stages: Array<Record<string, unknown>>;
  /** How many work side by side, by stage. */
  workers: Record<string, number>;
  servers: Array<string>;
  cards: Array<string>;
  cores: number;
  waiting_pages: number;
  queued_jobs: number;
  error: string;
}

/** Every error: a sentence, and what to do. */
export interface ErrorAnswer {
  error: string;
  advice?: string;
}

/** The values of a document in the shape of the schema, null where nothing was found. */
export interface ExtractAnswer {
  document: string;
  locator: string;
  values: Record<string, unknown>;
  fields: Array<FieldAnswer>;
  /** Paths of fields without a value. */
  missing: Array<string>;
}

/** A document of the run, and the fields that are wanted of it as JSON Schema. */
export interface ExtractQuestion {
  name: string;
  /** JSON Schema: its properties are the fields. */
  fields: Record<string, unknown>;
}

/** A page that failed, or a part of one. */
export interface FailureAnswer {
  document: string;
  page: number;
  /** The region or thing; empty where it was all of the page. */
  part: string;
  stage: string;
  message: string;
  advice: string;
  /** The service has the file: POST /v1/retry. */
  can_try_again: boolean;
}

/** A value, and the places that prove it. */
export interface FieldAnswer {
  /** Its JSON pointer in the values. */
  path: string;
  value: unknown;
  /** As the page has it. */
  text: string;
  locators: Array<string>;
  /** What led to it: label, table or form. */
  by: string;
  label: string;
  /** How well the place fits the field; no probability. */
  score: number;
}

/** Whether the service is well. */
export interface HealthAnswer {
  version: string;
  /** It has read a page of our own since it was started. */
  ready: boolean;
  takes_documents: boolean;
  waiting_pages: number;
  /** Other machines reach it, and there are no keys. */
  open_to_others: boolean;
}

/** A job. `documents` are empty where it has a run of its own; `files` are the names that were sent. */
export interface JobAnswer {
  id: string;
  kind: "parse" | "volumes";
  state: "queued" | "running" | "done" | "failed" | "cancelled";
  created: string;
  /** Set when the job is over. */
  finished: string | null;
  files: Array<string>;
  documents: Array<DocumentAnswer>;
  pages: number | null;
  done: number;
  failed: number;
  /** Why a job failed. */
  error: string;
  /** What became of the POST to its `callback`; empty without one. */
  callback: "" | "waiting" | "delivered" | "failed";
  /** Formats of /v1/jobs/{id}/result. */
  results: Array<string>;
}

/** How the service is, ready or not. */
export interface LiveAnswer {
  version: string;
  /** It has read a page of our own since it was started. */
  ready: boolean;
  takes_documents: boolean;
  waiting_pages: number;
  /** Other machines reach it, and there are no keys. */
  open_to_others: boolean;
  /** Why it is not ready. */
  reason: string;
}

/** What stands at an address. */
export interface LocatedAnswer {
  locator: string;
  kind: "document" | "page" | "region" | "line" | "cell" | "chunk" | "thing";
  document: string;
  page: number | null;
  region: number | null;
  label: string;
  /** On the page's grid of 0 to 1000. */
  bbox: Array<number> | null;
  text: string;
  /** None where the file itself gives the text. */
  confidence: number | null;
  reader: string;
  crop: string | null;
  /** Of a chunk: the locators of its regions. */
  places: Array<string>;
}

/** One page of a document that was read. */
export interface PartAnswer {
  page: number;
  ok: boolean;
}

/** A place that a person should look at. */
export interface ReviewAnswer {
  locator: string;
  document: string;
  page: number;
  kind: "page" | "region" | "line" | "cell";
  reason: string;
  text: string;
  /** What a second reader read. */
  other: string;
  confidence: number | null;
  /** On the page's grid of 0 to 1000. */
  bbox: Array<number> | null;
  /** How many of its characters are likely wrong. */
  wrong: number;
}

/** The service's run, or the one that OUT keeps the profile of. */
export interface RunAnswer {
  is_live: boolean;
  done: number;
  failed: number;
  waiting_pages: number;
  finding: string;
  advice: string;
  bottleneck: string;
  stages: Array<RunStageAnswer>;
}

/** One stage of a run. The shares are of its workers' time since the run began, and add up to 1. */
export interface RunStageAnswer {
  name: string;
  workers: number;
  /** Pages before it now. */
  waiting: number;
  /** Pages in it now. */
  running: number;
  done: number;
  failed: number;
  busy: number;
  /** Waiting for pages. */
  starved: number;
  /** Waiting for room behind it. */
  blocked: number;
}

/** A page that answers, with the region or chunk that answers best. */
export interface SearchHit {
  page_id: string;
  document: string;
  page: number;
  score: number;
  snippet: string;
  sources: Record<string, Array<unknown>>;
  section: string;
  pages: Array<number>;
  region: number | null;
  label: string | null;
  box: Array<number> | null;
  crop: string | null;
  /** For /v1/at. */
  locator: string;
}

/** A question to the index. */
export interface SearchQuestion {
  question: string;
  top?: number;
  /** Only these. */
  documents?: Array<string>;
  /** Only these: 3-9. */
  pages?: string | null;
  /** Only regions of these kinds. */
  labels?: Array<string>;
  /** Only below these titles. */
  sections?: Array<string>;
}

/** A document that was taken, and its job. */
export interface TakenAnswer {
  name: string;
  /** None until they are counted. */
  pages: number | null;
  done: number;
  /** Pages with any failure. */
  failed: number;
  ready: boolean;
  job: string;
}

/** What stands somewhere in truth. */
export interface TypedCorrection {
  locator: string;
  text: string;
  /** What it said to its writer. */
  before?: string | null;
  /** Who corrects; with a key its name counts. */
  who?: string;
}

/** Options of the form. Files are given beside them. */
export interface ParseOptions {
  /** Pages of each document, counted from 1: 3-9 or 1,4,7-. */
  pages?: string | null;
  /** Maximum number of pages read of one document. */
  max_pages?: number | null;
  /** Resolution at which PDF pages are rendered. */
  dpi?: number | null;
  /** documents, auto: Languages of the pages, such as ko,en. Recognised from the page if not given. */
  lang?: Array<string> | null;
  /** How regions are found. documents: model (the built-in network), pair (a second network with it on pages with a text layer), rules (fonts and geometry) or pp-doclayoutv3 (a larger network, 131 MB, which auto takes if it was fetched: for --effort best, and for pictures of text for balanced). Recipes with a model server: auto, pp-doclayoutv3 (needs torch) or cdla (CPU). */
  layout?: "auto" | "model" | "pair" | "rules" | "pp-doclayoutv3" | "cdla" | null;
  /** documents, auto: When the text inside a PDF is used: auto (if it can be trusted), always or never. */
  text_layer?: "auto" | "always" | "never" | null;
  /** documents, auto: Flatten photographs of pages: auto (if it looks like one), off or always. */
  flatten?: "auto" | "off" | "always" | null;
  /** documents, auto: How Office files and HWP are read: structure (the file's own words, tables and notes), pages (printed, then read like a PDF), both (the file's words in the boxes of its printed pages) or auto (structure). */
  office?: "auto" | "structure" | "pages" | "both" | null;
  /** documents, auto: What Office files hold and do not show: comments, deleted words, speaker notes, hidden slides, sheets, rows and columns. keep (marked in their regions), drop, or all: also formulas of sheets and numbers as stored. */
  unprinted?: "keep" | "drop" | "all" | null;
  /** documents, auto: Read the words in the pictures of Office files, books and web pages. */
  read_pictures?: boolean | null;
  /** documents, auto: Time spent on reading pictures: fast, balanced or best. */
  effort?: "fast" | "balanced" | "best" | null;
  /** Keep crops of pictures, charts, tables and formulas. */
  crops?: boolean | null;
  /** Password of encrypted PDFs. */
  password?: string | null;
  /** auto: Part of a page's characters that is estimated to be wrong, before the server reads it: from 0 (it reads all but the text of files) to 1 (none). */
  accept_errors?: number | null;
  /** Lowest score of a region: 0.3 for all classes, or by class: text=0.4,table=0.5. */
  layout_threshold?: number | string | null;
  /** glm-ocr, paddleocr-vl, openai: Which of two nested boxes stays: large, small, or union for both; or by class. */
  layout_merge?: string | null;
  /** glm-ocr, paddleocr-vl, openai: Factor by which boxes grow: 1.02, or width x height: 1.1x1.0; or by class. */
  layout_unclip?: number | string | null;
  /** glm-ocr, paddleocr-vl, openai: Drop regions that were found twice. */
  layout_nms?: boolean | null;
  /** grounded: Resolution of the views: tiny, small, base, large, gundam, untiled, or pixels: 1024+640. */
  resolution?: string | null;
  /** grounded: Size in pixels of the view that shows the full page. */
  base_size?: number | null;
  /** grounded: Size in pixels of a tile of the page. */
  image_size?: number | null;
  /** grounded: Show the model tiles of the page as well as the full page. */
  crop_mode?: boolean | null;
  /** grounded: What the model is asked for: markdown, ocr, free, figure or describe. */
  prompt_mode?: string | null;
  /** grounded: A prompt of your own. */
  prompt?: string | null;
  /** grounded: Ask the model where this text is on the page. */
  locate?: string | null;
  /** glm-ocr, paddleocr-vl, openai: Headers, footers and page numbers: drop or read. */
  margins?: "drop" | "read" | null;
  /** Scale regions so that their print is this high, in pixels. */
  text_height?: number | null;
  /** glm-ocr, paddleocr-vl, openai: Cut regions along their outlines instead of their boxes. */
  polygons?: boolean | null;
  /** Address that gets a POST when the job is over. The operator allows its host. */
  callback?: string | null;
}

/** Options of the form. Files are given beside them. */
export interface VolumesOptions {
  /** Box of a thing in pixels, and its label: x,y,w,h:chair or room.jpg=x,y,w,h:chair. Repeatable. */
  boxes?: Array<string> | null;
  /** A length that you know, such as "table=140cm wide" (or deep, or high). The photo is measured by it. Repeatable. */
  known?: Array<string> | null;
  /** The photos show one room: a thing in two of them counts once. */
  same_room?: boolean | null;
  /** What to look for, such as sofa,책장. Furniture if not given. */
  labels?: Array<string> | null;
  /** What finds things: saliency (CPU, one thing in a photo), nanodet (CPU, furniture by name), grounded (Grounding DINO and SAM 2), rfdetr, yoloe. Default: grounded on a GPU, otherwise nanodet if it was fetched, otherwise saliency. */
  detector?: "saliency" | "nanodet" | "grounded" | "rfdetr" | "yoloe" | null;
  /** Leave out things that were found with a lower score. */
  min_score?: number | null;
  /** What builds shapes: silhouette (CPU, estimates) or sam3d (3D, needs a GPU). */
  engine?: "silhouette" | "sam3d" | null;
  /** Camera height above the floor in metres. Estimated if not given. */
  camera_height?: number | null;
  /** Angle in degrees at which the camera looked down. Estimated if not given. */
  pitch?: number | null;
  /** sam3d: use the depth of an empty room instead of a depth model. A last resort. */
  floor_depth?: boolean | null;
  /** sam3d: gaussian_4, gaussian (8 times larger) or stage1 (size only). */
  setting?: "gaussian" | "gaussian_4" | "stage1" | null;
  /** sam3d: number of steps for the structure. Default: 25. */
  stage1_steps?: number | null;
  /** sam3d: number of steps for the surface. Default: 25. */
  stage2_steps?: number | null;
  /** sam3d: write a GLB mesh as well. Takes a third more time. */
  mesh?: boolean | null;
  /** sam3d: bake textures. Takes 30 to 60 s for each object. */
  texture?: boolean | null;
  /** sam3d: repair meshes. Takes 20 to 40 s for each object. */
  mesh_postprocess?: boolean | null;
  /** sam3d: refine poses. Takes 2 to 5 s for each object. */
  layout_postprocess?: boolean | null;
  /** Address that gets a POST when the job is over. The operator allows its host. */
  callback?: string | null;
}

export interface Operations {
  parse: { parameters: { "wait"?: number; "format"?: string }; body: unknown; answer: JobAnswer };
  volumes: { parameters: { "wait"?: number; "format"?: string }; body: unknown; answer: JobAnswer };
  listJobs: { parameters: { "start"?: number; "limit"?: number }; body: unknown; answer: Array<JobAnswer> };
  getJob: { parameters: { "id": string; "wait"?: number }; body: unknown; answer: JobAnswer };
  deleteJob: { parameters: { "id": string }; body: unknown; answer: unknown };
  cancelJob: { parameters: { "id": string }; body: unknown; answer: JobAnswer };
  streamJobEvents: { parameters: { "id": string }; body: unknown; answer: unknown };
  getJobResult: { parameters: { "id": string; "format"?: string; "of"?: string }; body: unknown; answer: unknown };
  getJobFile: { parameters: { "id": string; "path": string }; body: unknown; answer: unknown };
  listJobDocuments: { parameters: { "id": string }; body: unknown; answer: Array<DocumentAnswer> };
  getJobDocument: { parameters: { "id": string; "name": string }; body: unknown; answer: DocumentPartsAnswer };
  getJobPage: { parameters: { "id": string; "name": string; "page": number }; body: unknown; answer: Record<string, unknown> };
  getJobPicture: { parameters: { "id": string; "name": string; "page": number; "boxes"?: boolean; "side"?: number }; body: unknown; answer: unknown };
  addJobBoxes: { parameters: { "id": string; "name": string; "page": number }; body: DrawnBoxes; answer: JobAnswer };
  listDocuments: { parameters: { "start"?: number; "limit"?: number }; body: unknown; answer: Array<DocumentAnswer> };
  uploadDocument: { parameters: { "name": string }; body: unknown; answer: TakenAnswer };
  getDocument: { parameters: { "name": string; "wait"?: number }; body: unknown; answer: DocumentPartsAnswer };
  getMarkdown: { parameters: { "name": string }; body: unknown; answer: unknown };
  getPage: { parameters: { "name": string; "page": number }; body: unknown; answer: Record<string, unknown> };
  getLocated: { parameters: { "locator": string }; body: unknown; answer: LocatedAnswer };
  getPicture: { parameters: { "name": string; "page": number; "boxes"?: boolean; "side"?: number }; body: unknown; answer: unknown };
  getFile: { parameters: { "path": string }; body: unknown; answer: unknown };
  getRun: { parameters: {  }; body: unknown; answer: RunAnswer };
  listFailures: { parameters: { "limit"?: number }; body: unknown; answer: Array<FailureAnswer> };
  retryDocument: { parameters: { "name": string }; body: unknown; answer: DocumentAnswer };
  search: { parameters: { "q": string; "top"?: number }; body: unknown; answer: Array<SearchHit> };
  searchWithFilters: { parameters: {  }; body: SearchQuestion; answer: Array<SearchHit> };
  embed: { parameters: {  }; body: EmbedQuestion; answer: EmbedAnswer };
  extract: { parameters: {  }; body: ExtractQuestion; answer: ExtractAnswer };
  review: { parameters: { "name"?: string | null; "top"?: number }; body: unknown; answer: Array<ReviewAnswer> };
  listCorrections: { parameters: { "locator": string }; body: unknown; answer: Array<CorrectionAnswer> };
  correct: { parameters: {  }; body: TypedCorrection; answer: CorrectionAnswer };
  getHealth: { parameters: {  }; body: unknown; answer: HealthAnswer };
  getLiveness: { parameters: {  }; body: unknown; answer: LiveAnswer };
  getMetrics: { parameters: {  }; body: unknown; answer: unknown };
  getEngines: { parameters: {  }; body: unknown; answer: EnginesAnswer };
}

export const PATHS: Record<keyof Operations, [method: string, path: string]> = {
  parse: ["POST", "/v1/parse"],
  volumes: ["POST", "/v1/volumes"],
  listJobs: ["GET", "/v1/jobs"],
  getJob: ["GET", "/v1/jobs/{id}"],
  deleteJob: ["DELETE", "/v1/jobs/{id}"],
  cancelJob: ["POST", "/v1/jobs/{id}/cancel"],
  streamJobEvents: ["GET", "/v1/jobs/{id}/events"],
  getJobResult: ["GET", "/v1/jobs/{id}/result"],
  getJobFile: ["GET", "/v1/jobs/{id}/file/{path}"],
  listJobDocuments: ["GET", "/v1/jobs/{id}/documents"],
  getJobDocument: ["GET", "/v1/jobs/{id}/document"],
  getJobPage: ["GET", "/v1/jobs/{id}/page"],
  getJobPicture: ["GET", "/v1/jobs/{id}/picture"],
  addJobBoxes: ["POST", "/v1/jobs/{id}/boxes"],
  listDocuments: ["GET", "/v1/documents"],
  uploadDocument: ["POST", "/v1/documents"],
  getDocument: ["GET", "/v1/document"],
  getMarkdown: ["GET", "/v1/markdown"],
  getPage: ["GET", "/v1/page"],
  getLocated: ["GET", "/v1/at"],
  getPicture: ["GET", "/v1/picture"],
  getFile: ["GET", "/v1/file/{path}"],
  getRun: ["GET", "/v1/run"],
  listFailures: ["GET", "/v1/failures"],
  retryDocument: ["POST", "/v1/retry"],
  search: ["GET", "/v1/search"],
  searchWithFilters: ["POST", "/v1/search"],
  embed: ["POST", "/v1/embed"],
  extract: ["POST", "/v1/extract"],
  review: ["GET", "/v1/review"],
  listCorrections: ["GET", "/v1/corrections"],
  correct: ["POST", "/v1/corrections"],
  getHealth: ["GET", "/health"],
  getLiveness: ["GET", "/health/live"],
  getMetrics: ["GET", "/metrics"],
  getEngines: ["GET", "/v1/engines"],
};
