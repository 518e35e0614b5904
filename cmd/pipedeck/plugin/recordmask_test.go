// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/piped/secrets"
	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// sealedBy stands for the key of an environment: a ciphertext is the secret after this word.
type sealedBy string

func (s sealedBy) Decrypt(ciphertext string) (string, error) {
	secret, ok := strings.CutPrefix(ciphertext, string(s))
	if !ok {
		return "", errors.New("encrypted with another key")
	}
	return secret, nil
}
func (s sealedBy) PublicKey() string   { return "" }
func (s sealedBy) Sensitive() []string { return nil }

func TestRecordingsHideTheSecretsOfApplications(t *testing.T) {
	t.Parallel()
	for name, configuration := range map[string]string{
		"YAML":   "spec:\n  encryption:\n    encryptedSecrets:\n      password: sealed-by-us-hunter2hunter2\n",
		"JSON":   `{"spec": {"encryption": {"encryptedSecrets": {"password": "sealed-by-us-hunter2hunter2"}}}}`,
		"a mark": "\ufeffspec:\n  encryption:\n    encryptedSecrets: {password: sealed-by-us-hunter2hunter2}\n",
		"an anchor": "spec:\n  name: &s sealed-by-us-hunter2hunter2\n  encryption:\n    encryptedSecrets:\n" +
			"      password: *s\n",
		"other keys given twice": "spec:\n  name: a\n  name: b\n  encryption:\n    encryptedSecrets:\n" +
			"      other: from-elsewhere\n      password: sealed-by-us-hunter2hunter2\n",
		"a secret that is a number": "spec:\n  encryption:\n    encryptedSecrets:\n      number: 1\n" +
			"      password: sealed-by-us-hunter2hunter2\n",
		"words of YAML 1.1": "spec:\n  trigger: {onOutOfSync: {disabled: no}}\n  encryption:\n    encryptedSecrets:\n" +
			"      on: sealed-by-us-hunter2hunter2\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := &recordMask{masker: secrets.NewMasker(), decrypter: sealedBy("sealed-by-us-"), seen: map[string]bool{}}
			m.learn(configuration)
			require.NotContains(t, m.text("the password is hunter2hunter2"), "hunter2hunter2")
		})
	}
}

func TestWithoutAKeyNoSecretIsDecrypted(t *testing.T) {
	t.Parallel()
	m := newRecordMask("")
	m.learn("spec:\n  encryption:\n    encryptedSecrets:\n      password: sealed-by-us-hunter2hunter2\n")
	require.Equal(t, "the password is hunter2hunter2", m.text("the password is hunter2hunter2"))
}

func TestSecretsInTheQueryOfAnAddressAreMasked(t *testing.T) {
	t.Parallel()
	m := newRecordMask("")
	for text, want := range map[string]string{
		"GET https://a.example/x?token=t0k&page=2":      "GET https://a.example/x?token=******&page=2",
		"https://a.example/?page=2&api_key=k#top":       "https://a.example/?page=2&api_key=******#top",
		"https://a.example/?X-Amz-Signature=ab12&Key=c": "https://a.example/?X-Amz-Signature=******&Key=******",
		`{"url":"https://a.example/?a=1\u0026secret=s\u0026b=2"}`: `{"url":"https://a.example/?a=1\u0026secret=******` +
			`\u0026b=2"}`,
		"https://a.example/?access_token=a%2Fb c":            "https://a.example/?access_token=****** c",
		"https://a.example/?monkey=1&tokens=2&page_key_id=3": "https://a.example/?monkey=1&tokens=2&page_key_id=3",
		"key=value, password=none of an address":             "key=value, password=none of an address",
	} {
		require.Equal(t, want, m.text(text))
	}
	masked, err := m.settle(sdk.Settings{Config: json.RawMessage(`{"url": "https://a.example/?token=hunter2hunter2"}`)})
	require.NoError(t, err)
	require.Contains(t, string(masked), "?token=******")
	require.Equal(t, "the server says ****** is wrong", m.text("the server says hunter2hunter2 is wrong"))
}
