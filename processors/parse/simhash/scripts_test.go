package simhash_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/processors/parse/simhash"
)

// frequent are words of languages that are written without spaces, and of one whose
// spaces part longer ones.
var frequent = map[string]string{
	"th": "ที่ และ ใน ของ การ ความ เป็น ไม่ ได้ มี ว่า ให้ กับ จะ จาก คน ไป มา แต่ ก็ หรือ เขา เรา นี้ นั้น อยู่ ทำ วัน ปี บ้าน เมือง ประเทศ น้ำ ข้าว เดิน ทาง หนังสือ โรงเรียน เด็ก แม่ พ่อ เพื่อน งาน เงิน รถ ตลาด อาหาร กิน นอน พูด เขียน อ่าน ภาษา ไทย ชีวิต โลก ใจ ดี ใหญ่ เล็ก ใหม่ เก่า สวย ร้อน หนาว ฝน ลม ทะเล ภูเขา ต้นไม้ ดอกไม้ สัตว์ นก ปลา หมา แมว ช้าง แดง ขาว ดำ เขียว",
	"ja": "の に は を た が で て と し れ さ ある いる も する から な こと として い や など なり よう ない その ため この まで これ それ もの とき ところ です ます した という 人 日本 年 月 国 町 山 川 海 空 雨 風 花 木 水 火 土 学校 先生 学生 会社 仕事 電車 時間 天気 料理 音楽 映画 新聞 言葉 世界 生活 テレビ ホテル レストラン バス カメラ 大きい 小さい 新しい 古い 美しい 行く 来る 見る 聞く 読む 書く",
	"zh": "的 一 是 了 我 不 在 他 有 这 上 们 来 到 时 大 地 为 子 中 说 生 国 年 着 就 那 和 要 她 出 也 得 里 后 自己 以 会 家 可以 下 而 过 天 去 能 对 小 多 然后 于 心 学校 么 之 都 好 看 起 发展 当 没有 成 只 如 事情 把 还 用 第 样 道 想 作 种 开 美 总 从 无 情 面 最 女 但 现在 前 些 所 同 日 手 又 行 意 动 方",
	"ko": "이 그 저 것 수 등 들 및 에서 으로 하는 있는 없다 한다 그리고 그러나 사람 나라 한국 세계 도시 학교 선생님 학생 회사 일 시간 날씨 음식 음악 영화 신문 말 생활 바다 산 강 하늘 비 바람 꽃 나무 물 불 땅 크다 작다 새로운 오래된 아름다운 가다 오다 보다 듣다 읽다 쓰다 먹다 자다",
}

// essays are texts of some 4,000 characters that have the frequent words of their
// language in common, and each a subject of its own, of two words joined.
func essays(r *rand.Rand, language string, n int) (texts []string) {
	all := strings.Fields(frequent[language])
	space := ""
	if language == "ko" {
		space = " "
	}
	for range n {
		subject := make([]string, 60)
		for i := range subject {
			subject[i] = all[r.IntN(len(all))] + all[r.IntN(len(all))]
		}
		var text strings.Builder
		for text.Len() < 3*4000 {
			for range 8 + r.IntN(8) {
				if r.IntN(2) == 0 {
					text.WriteString(subject[r.IntN(len(subject))] + space)
				} else {
					text.WriteString(all[int(r.ExpFloat64()*12)%len(all)] + space)
				}
			}
			text.WriteString([]string{"\n", "。", ". "}[r.IntN(3)])
		}
		texts = append(texts, text.String())
	}
	return texts
}

// The bars of TestBars for languages whose words are not parted: letters and pairs of
// them soon are as frequent in one text as in another.
func TestScriptsWithoutSpaces(t *testing.T) {
	for language := range frequent {
		t.Run(language, func(t *testing.T) {
			r := rand.New(rand.NewPCG(7, 7))
			texts := essays(r, language, 100)
			prints := make([]simhash.Fingerprint, len(texts))
			near := 0
			for i, text := range texts {
				prints[i], _ = simhash.Of(text)
				runes := []rune(text)
				at := r.IntN(len(runes) - 120)
				edited, _ := simhash.Of(string(runes[:at]) + string([]rune(texts[(i+1)%len(texts)])[:60]) + string(runes[at+60:]))
				if _, alike := edited.Distance(prints[i]); alike {
					near++
				}
			}
			wrong, of := confused(prints)
			t.Logf("%d of %d pairs, %d of %d edited", wrong, of, near, len(texts))
			if 1000*wrong > 5*of {
				t.Errorf("%d of %d pairs are taken for each other", wrong, of)
			}
			if 10*near < 7*len(texts) {
				t.Errorf("%d of %d texts with other words in a place are found", near, len(texts))
			}
		})
	}
}
