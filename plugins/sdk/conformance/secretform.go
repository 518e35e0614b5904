// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"encoding/base64"
	"fmt"
	"strings"
)

// shortestForm is the length of the shortest text that is looked for in the place of a secret: shorter ones are parts
// of other texts.
const shortestForm = 8

// forms are a secret as it is, and as programs write it: the numbers of its bytes as Go and Python print a request, in
// which options are bytes, and as Node prints a buffer; and base64, also of a text that has the secret in it, such as
// USER:PASSWORD.
func forms(secret string) []string {
	bytes := []byte(secret)
	numbers := strings.Trim(fmt.Sprint(bytes), "[]")
	all := []string{secret}
	for _, form := range append(base64Forms(bytes), base64.StdEncoding.EncodeToString(bytes), fmt.Sprintf("%x", bytes),
		numbers, strings.ReplaceAll(numbers, " ", ", "), fmt.Sprintf("% x", bytes)) {
		if len(form) >= shortestForm {
			all = append(all, form)
		}
	}
	return all
}

// base64Forms are the letters that base64 has for a secret in the middle of another text. They depend on how many bytes
// are before it, and those at both ends depend on the bytes next to the secret, too.
func base64Forms(secret []byte) (all []string) {
	const bitsOfByte, bitsOfLetter, group = 8, 6, 3
	for before := range group {
		padded := append(make([]byte, before), secret...)
		first, end := (before*bitsOfByte+bitsOfLetter-1)/bitsOfLetter, len(padded)*bitsOfByte/bitsOfLetter
		for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			all = append(all, encoding.EncodeToString(padded)[first:end])
		}
	}
	return all
}

// holds is whether a text shows the secret.
func holds(text, secret string) bool {
	for _, form := range forms(secret) {
		if strings.Contains(text, form) {
			return true
		}
	}
	return false
}
