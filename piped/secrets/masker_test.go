// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package secrets

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func masking(t testing.TB, values ...string) *Masker {
	t.Helper()
	m := NewMasker()
	require.NoError(t, m.Add(values...))
	return m
}

func TestValuesAreMaskedWhereverTheyStand(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		values     []string
		text, want string
	}{
		"in the middle":          {[]string{"hunter2"}, "password hunter2 used", "password ****** used"},
		"alone":                  {[]string{"hunter2"}, "hunter2", "******"},
		"twice":                  {[]string{"hunter2"}, "hunter2,hunter2", "******,******"},
		"side by side":           {[]string{"hunter2"}, "hunter2hunter2", "******"},
		"nothing":                {[]string{"hunter2"}, "hunter3", "hunter3"},
		"too short to be masked": {[]string{"abcde"}, "abcde", "abcde"},
		"white space around it":  {[]string{" hunter2\n"}, "is hunter2.", "is ******."},
		"the longer of two":      {[]string{"hunter2", "hunter2-and-more"}, "hunter2-and-more", "******"},
		"the shorter of two":     {[]string{"hunter2", "hunter2-and-more"}, "hunter2-and-less", "******-and-less"},
		"overlapping":            {[]string{"abcdefgh", "efghijkl"}, "xabcdefghijklx", "x******x"},
		"one within another":     {[]string{"cdefgh", "abcdefghij"}, "abcdefghij", "******"},
		"longer than a chunk": {
			[]string{strings.Repeat("0123456789", 30)}, "<" + strings.Repeat("0123456789", 30) + ">", "<******>",
		},
		"characters of many bytes": {
			[]string{strings.Repeat("пароль", 20)}, "<" + strings.Repeat("пароль", 20) + ">", "<******>",
		},
		"lines": {
			[]string{"first-line\nsecond-line\n"}, "b second-line a first-line", "b ****** a ******",
		},
		"short lines stay": {[]string{"first-line\nabc\n"}, "abc first-line", "abc ******"},
		"the frame of PEM stays": {
			[]string{"-----BEGIN KEY-----\nMIIEabcdefgh\n-----END KEY-----"}, "-----BEGIN KEY-----\nMIIEabcdefgh",
			"-----BEGIN KEY-----\n******",
		},
		"base64 lines with padding": {
			[]string{"-----BEGIN KEY-----\nMIIEabcdef==\n-----END KEY-----"}, "MIIEabcdef==", "******",
		},
		"long values of assignments": {
			[]string{"user: ann\npassword: hunter22\n"}, "use hunter22 of ann", "use ****** of ann",
		},
		"short assignments stay": {[]string{"kind: Secret\npassword: hunter22\n"}, "kind: Secret", "kind: Secret"},
		"decoded base64": {
			[]string{base64.StdEncoding.EncodeToString([]byte("hunter2"))}, "is hunter2", "is ******",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, masking(t, c.values...).Mask(c.text))
		})
	}
}

func TestCommonFormsOfAValueAreMasked(t *testing.T) {
	t.Parallel()
	for _, value := range []string{
		"hunter2", "with \"quotes\" & <more>", "a/b+c?d=e f", "back\\slash-and-\ttab", "пароль",
	} {
		m := masking(t, value)
		asJSON, err := json.Marshal(map[string]string{"k": value})
		require.NoError(t, err)
		for _, form := range []string{
			string(asJSON), fmt.Sprintf("%q", value), url.QueryEscape(value), url.PathEscape(value),
			base64.StdEncoding.EncodeToString([]byte(value)), base64.URLEncoding.EncodeToString([]byte(value)),
		} {
			require.Contains(t, m.Mask(form), Mask, "%s of %s", form, value)
		}
		for before := range 7 {
			around := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", before) + value + "suffix"))
			require.Contains(t, m.Mask(around), Mask, "%s in the base64 of more, after %d bytes", value, before)
		}
	}
}

func TestTheBase64OfALongValueIsMaskedInLinesToo(t *testing.T) {
	t.Parallel()
	for length := range 300 {
		value := strings.Repeat("0123456789-", length)[:min(length+6, length*11)]
		m := masking(t, value)
		whole := base64.StdEncoding.EncodeToString([]byte(value))
		for _, width := range []int{64, 76, 1000} {
			for rest := whole; len(rest) >= minValue; rest = rest[min(width, len(rest)):] {
				line := rest[:min(width, len(rest))]
				require.Equal(t, "<"+Mask+">", m.Mask("<"+line+">"), "%d bytes in lines of %d", len(value), width)
			}
			if len(value) < minValue {
				break
			}
		}
	}
}

func TestARandomValueNeverShows(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	letters := "abAB01+/=\"\\ :"
	word := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteByte(letters[random.IntN(len(letters))])
		}
		return b.String()
	}
	for range 2000 {
		value := "<" + word(4+random.IntN(200)) + ">"
		m := masking(t, value, word(6+random.IntN(6)))
		text := strings.Repeat("z", random.IntN(20)) + value + strings.Repeat("z", random.IntN(20))
		require.NotContains(t, m.Mask(text), value)
		cut := random.IntN(len(text))
		first, state := m.maskPiece("", text[:cut])
		second, _ := m.maskPiece(state, text[cut:])
		shown := len(strings.Trim(strings.ReplaceAll(first, Mask, ""), "z")) + len(
			strings.Trim(strings.ReplaceAll(second, Mask, ""), "z"),
		)
		require.Less(t, shown, minBeginning, "%q and %q of %q", first, second, value)
	}
}

func TestPiecesOfALineDoNotShowAValue(t *testing.T) {
	t.Parallel()
	m := masking(t, "hunter2-is-the-password")
	for name, c := range map[string]struct{ pieces, want []string }{
		"cut in the middle": {
			[]string{"use hunter2-is", "-the-password now\n"}, []string{"use ******", "****** now\n"},
		},
		"three pieces":       {[]string{"hunter2", "-is-the", "-password"}, []string{"******", "******", "******"}},
		"few bytes may show": {[]string{"hun", "ter2-is-the-password"}, []string{"hun", "******"}},
		"only a beginning":   {[]string{"hunter2-is", "no password"}, []string{"******", "no password"}},
		"a finished line": {
			[]string{"hunter2-is\n", "-the-password\n"}, []string{"hunter2-is\n", "-the-password\n"},
		},
		"separate messages": {
			[]string{"Waiting", "hunter2-is-the-password", "Done"}, []string{"Waiting", "******", "Done"},
		},
		"a line between them": {
			[]string{"hunter2-is", "\n", "-the-password"}, []string{"******", "\n", "-the-password"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var state tail
			var got []string
			for _, piece := range c.pieces {
				var masked string
				masked, state = m.maskPiece(state, piece)
				got = append(got, masked)
				require.LessOrEqual(t, len(state), maxPattern)
			}
			require.Equal(t, c.want, got)
		})
	}
	require.Equal(t, "use ******", m.MaskPiece("use hunter2-is-the"))
	require.Equal(t, "use hun", m.MaskPiece("use hun"))
}

func TestMemoryIsBoundedAndValuesInUseAreKept(t *testing.T) {
	t.Parallel()
	m := NewMasker()
	m.limit = 64 << 10
	require.NoError(t, m.Add("for-ever-secret"))
	release, err := m.Hold("held-secret")
	require.NoError(t, err)
	number := func(i int) string { return fmt.Sprintf("passing-secret-%06d", i) }
	for i := range 2000 {
		done, err := m.Hold(number(i))
		require.NoError(t, err)
		require.Equal(t, Mask, m.Mask(number(i)))
		done()
		done() // a second time does nothing
		require.LessOrEqual(t, m.cost, m.limit)
	}
	require.Equal(t, Mask, m.Mask(number(1999)), "values are remembered after their use")
	require.Equal(t, number(0), m.Mask(number(0)), "until their place is needed")
	require.Equal(t, Mask+" "+Mask, m.Mask("for-ever-secret held-secret"))
	require.LessOrEqual(t, len(m.index.windows), m.limit/patternOverhead)

	var full *FullError
	for i := range 2000 {
		if _, err = m.Hold(number(i)); err != nil {
			break
		}
	}
	require.ErrorAs(t, err, &full, "values in use are never forgotten")
	require.Equal(t, Mask, m.Mask("held-secret"))
	release()
	_, err = m.Hold(strings.Repeat("large", 20<<10))
	require.ErrorAs(t, err, &full)
}

func TestOneValueMayBeHeldBySeveral(t *testing.T) {
	t.Parallel()
	m := NewMasker()
	m.limit = newSecret("shared-secret").cost + newSecret("other-secret").cost/2
	first, err := m.Hold("shared-secret")
	require.NoError(t, err)
	second, err := m.Hold("shared-secret", "abc")
	require.NoError(t, err)
	first()
	_, err = m.Hold("other-secret")
	require.Error(t, err)
	second()
	_, err = m.Hold("other-secret")
	require.NoError(t, err)
	require.Equal(t, "shared-secret", m.Mask("shared-secret"))
	require.Equal(t, Mask, m.Mask("other-secret"))
}

func TestMaskingWhileValuesComeAndGo(t *testing.T) {
	t.Parallel()
	m := masking(t, "steady-secret")
	m.limit = 16 << 10
	var all sync.WaitGroup
	for worker := range 4 {
		all.Go(func() {
			for i := range 200 {
				release, err := m.Hold(fmt.Sprintf("secret-%d-%d", worker, i))
				if err == nil {
					defer release()
				}
				if masked := m.Mask("a steady-secret"); masked != "a ******" {
					t.Errorf("%q", masked)
				}
				m.MaskPiece("a steady-sec")
			}
		})
	}
	all.Wait()
}

func TestErrorsAreMaskedAndStillRecognized(t *testing.T) {
	t.Parallel()
	m := masking(t, "hunter2")
	cause := errors.New("cannot log in with hunter2")
	err := m.Error(fmt.Errorf("deploy: %w", cause))
	require.EqualError(t, err, "deploy: cannot log in with ******")
	require.ErrorIs(t, err, cause)
	require.NoError(t, m.Error(nil))
}

// benchmarkText is a log of 1 MiB in which every 100th line holds a secret.
func benchmarkText() (values []string, text string) {
	for i := range 500 {
		values = append(values, fmt.Sprintf("secret-value-%04d-%x", i, i*7919))
	}
	var b strings.Builder
	for i := 0; b.Len() < 1<<20; i++ {
		fmt.Fprintf(
			&b, "2026-11-21T10:00:00Z applied manifest: name=deployment-%d kind=Deployment namespace=default\n", i,
		)
		if i%100 == 0 {
			fmt.Fprintf(&b, "connecting with %s\n", values[i%len(values)])
		}
	}
	return values, b.String()
}

func BenchmarkMask(b *testing.B) {
	values, text := benchmarkText()
	m := masking(b, values...)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		m.Mask(text)
	}
}

// BenchmarkReplacer is what the standard library would take, for comparison.
func BenchmarkReplacer(b *testing.B) {
	values, text := benchmarkText()
	var pairs []string
	for _, value := range values {
		for _, p := range patternsOf(value) {
			pairs = append(pairs, p.text, Mask)
		}
	}
	replacer := strings.NewReplacer(pairs...)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		_ = replacer.Replace(text)
	}
}

func BenchmarkHold(b *testing.B) {
	values, _ := benchmarkText()
	m := NewMasker()
	for b.Loop() {
		release, err := m.Hold(values[:10]...)
		if err != nil {
			b.Fatal(err)
		}
		release()
	}
}
