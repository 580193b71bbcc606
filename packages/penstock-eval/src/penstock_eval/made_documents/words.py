"""Words of five languages, and sentences made of them. The sentences mean nothing, so none can be guessed."""

from __future__ import annotations

from random import Random

WORDS = {
    "en": "harbour ledger window garden signal copper meadow engine lantern bridge orchard minute harvest "
    "pebble canvas timber valley morning quarry saddle weather mirror barrel feather kettle anchor "
    "compass granite thimble willow parcel chimney velvet turbine pasture fountain basket cellar "
    "magnet ribbon sparrow tunnel vessel whistle copperplate estuary furnace gallery hollow inlet",
    "ko": "바다 창문 시장 다리 등불 정원 아침 계곡 수확 강물 나침반 기차 편지 골목 지붕 우산 바람 도서관 "
    "시계 연필 학교 논밭 물레 항구 기록 장부 신호 구리 초원 엔진 돌담 굴뚝 벨벳 터빈 분수 바구니 지하실 자석 "
    "참새 동굴 그릇 호각 하구 화로 전시관 빈터 포구 저울 모래 새벽",
    "ja": "海 窓 市場 橋 灯り 庭園 朝 谷 収穫 川 羅針盤 汽車 手紙 路地 屋根 傘 風 図書館 時計 鉛筆 学校 水田 "
    "港 記録 帳簿 信号 銅 草原 エンジン 石垣 煙突 タービン 噴水 かご 地下室 磁石 すずめ トンネル 器 笛",
    "ar": "بحر نافذة سوق جسر مصباح حديقة صباح وادي حصاد نهر بوصلة قطار رسالة زقاق سقف مظلة ريح مكتبة ساعة "
    "قلم مدرسة حقل ميناء سجل دفتر إشارة نحاس مرج محرك جدار مدخنة مخمل نافورة سلة قبو مغناطيس عصفور نفق",
    "he": "ים חלון שוק גשר פנס גן בוקר עמק קציר נהר מצפן רכבת מכתב סמטה גג מטריה רוח ספריה שעון עיפרון בית "
    "שדה נמל רישום ספר אות נחושת אחו מנוע קיר ארובה קטיפה מזרקה סל מרתף מגנט דרור מנהרה כלי משרוקית",
}
LANGUAGES = tuple(WORDS)
_LISTS = {language: tuple(words.split()) for language, words in WORDS.items()}
_PARTICLES = ("は", "の", "を", "に", "と", "で")


def phrase(random: Random, language: str, low: int = 2, high: int = 5) -> str:
    """Returns a few words; the first is written large where the script has large letters."""
    words = random.sample(_LISTS[language], random.randint(low, high))
    if language == "ja":
        return "".join(word + random.choice(_PARTICLES) for word in words[:-1]) + words[-1]
    text = " ".join(words)
    return text[0].upper() + text[1:]


def sentence(random: Random, language: str) -> str:
    end = "。" if language == "ja" else "."
    number = f" {random.randint(10, 9999)}" if random.random() < 0.3 else ""
    return phrase(random, language, 5, 11) + number + end


def sentences(random: Random, language: str, low: int = 1, high: int = 4) -> str:
    gap = "" if language == "ja" else " "
    return gap.join(sentence(random, language) for _ in range(random.randint(low, high)))
