// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package secrets_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"
	"filippo.io/age/armor"
	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/secrets"
)

const text = "the moon is made of cheese\nand so is the sun\n"

func read(t testing.TB, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return string(content)
}

// keyPair is made for these tests alone.
func keyPair(t testing.TB) secrets.Decrypter {
	t.Helper()
	d, err := secrets.Open(&config.SecretManagement{Type: "KEY_PAIR", Config: config.SecretKeys{
		PrivateKeyFile: "testdata/private", PublicKeyFile: "testdata/public",
	}})
	require.NoError(t, err)
	return d
}

func encoded(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

// The ciphertext was made by the control plane's Encrypt.
func TestWhatTheControlPlaneEncryptsIsDecrypted(t *testing.T) {
	t.Parallel()
	d := keyPair(t)
	got, err := d.Decrypt(read(t, "ciphertext"))
	require.NoError(t, err)
	require.Equal(t, text, got)
	require.Equal(t, read(t, "public"), d.PublicKey())
	require.Equal(t, []string{read(t, "private")}, d.Sensitive())

	wrapped := strings.Join([]string{read(t, "ciphertext")[:100], read(t, "ciphertext")[100:]}, "\n  ")
	got, err = d.Decrypt(wrapped)
	require.NoError(t, err, "line breaks of a YAML file do no harm")
	require.Equal(t, text, got)
}

func TestKeysAreFilesOrBase64InBothForms(t *testing.T) {
	t.Parallel()
	block, _ := pem.Decode([]byte(read(t, "private")))
	key, err := x509.ParsePKCS1PrivateKey(block.Bytes)
	require.NoError(t, err)
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	private := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8}))
	public := string(
		pem.EncodeToMemory(&pem.Block{Type: "RSA PUBLIC KEY", Bytes: x509.MarshalPKCS1PublicKey(&key.PublicKey)}),
	)
	d, err := secrets.Open(&config.SecretManagement{Type: "KEY_PAIR", Config: config.SecretKeys{
		PrivateKeyData: encoded(private), PublicKeyData: encoded(public),
	}})
	require.NoError(t, err)
	got, err := d.Decrypt(read(t, "ciphertext"))
	require.NoError(t, err)
	require.Equal(t, text, got)
}

func TestMistakesInKeysNameTheFieldAndShowNoKey(t *testing.T) {
	t.Parallel()
	private, public := encoded(read(t, "private")), encoded(read(t, "public"))
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	foreign := encoded(
		string(
			pem.EncodeToMemory(&pem.Block{Type: "RSA PUBLIC KEY", Bytes: x509.MarshalPKCS1PublicKey(&other.PublicKey)}),
		),
	)
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(curve)
	require.NoError(t, err)
	elliptical := encoded(string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})))
	locked := encoded("-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n")
	for name, c := range map[string]struct {
		kind string
		keys config.SecretKeys
		want string
	}{
		"missing file": {
			"KEY_PAIR", config.SecretKeys{PrivateKeyFile: "/no/such/file", PublicKeyData: public},
			"config.privateKeyFile: read the key",
		},
		"no PEM": {
			"KEY_PAIR", config.SecretKeys{PrivateKeyData: encoded("sesame"), PublicKeyData: public},
			"config.privateKeyData: it is not in PEM form",
		},
		"public for private": {
			"KEY_PAIR", config.SecretKeys{PrivateKeyData: public, PublicKeyData: public},
			"it is not an RSA private key",
		},
		"private for public": {
			"KEY_PAIR", config.SecretKeys{PrivateKeyData: private, PublicKeyData: private},
			"config.publicKeyData: it is not an RSA public key",
		},
		"passphrase": {
			"KEY_PAIR", config.SecretKeys{PrivateKeyData: locked, PublicKeyData: public}, "remove it with openssl rsa",
		},
		"not RSA": {
			"KEY_PAIR", config.SecretKeys{PrivateKeyData: elliptical, PublicKeyData: public}, "only RSA keys",
		},
		"not a pair": {
			"KEY_PAIR", config.SecretKeys{PrivateKeyData: private, PublicKeyData: foreign},
			"it does not belong to the private key",
		},
		"no identity": {
			"AGE", config.SecretKeys{IdentityData: encoded("AGE-SECRET-KEY-1SESAME")},
			"config.identityData: it holds no age identities",
		},
		"no base64": {
			"AGE", config.SecretKeys{IdentityData: "sesame!"}, "config.identityData: it is not base64",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := secrets.Open(&config.SecretManagement{Type: c.kind, Config: c.keys})
			var mistake *secrets.KeyError
			require.ErrorAs(t, err, &mistake)
			require.ErrorContains(t, err, c.want)
			require.NotContains(t, strings.ToLower(err.Error()), "sesame")
		})
	}
}

func TestWithoutUsableKeysThereIsNoDecrypter(t *testing.T) {
	t.Parallel()
	for _, c := range []*config.SecretManagement{nil, {Type: "GCP_KMS"}} {
		d, err := secrets.Open(c)
		require.NoError(t, err)
		require.Nil(t, d)
	}
}

func TestBrokenCiphertextsAreExplained(t *testing.T) {
	t.Parallel()
	good, err := base64.StdEncoding.DecodeString(strings.TrimSpace(read(t, "ciphertext")))
	require.NoError(t, err)
	changed := func(at int) string {
		data := bytes.Clone(good)
		data[at] ^= 1
		return base64.StdEncoding.EncodeToString(data)
	}
	for name, c := range map[string]struct{ ciphertext, want string }{
		"plain text":        {"my password!", "it is not base64"},
		"empty":             {"", "too short"},
		"other base64":      {encoded("my password"), "not in the form"},
		"the next step":     {encoded("my password"), "encrypt it for this piped with pipedeck encrypt"},
		"length zero":       {encoded("\x00\x00aaaa"), "not in the form"},
		"wrong key":         {changed(20), "does not fit"},
		"wrong text":        {changed(len(good) - 1), "changed or lost"},
		"cut in the middle": {base64.StdEncoding.EncodeToString(good[:len(good)-20]), "changed or lost"},
		"too long":          {strings.Repeat("A", secrets.MaxCiphertext+1), "more than the 512 KiB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := keyPair(t).Decrypt(c.ciphertext)
			var broken *secrets.CipherError
			require.ErrorAs(t, err, &broken)
			require.ErrorContains(t, err, c.want)
			require.Equal(t, name == "wrong key", broken.Foreign)
		})
	}
}

func ageKeys(t testing.TB) secrets.Decrypter {
	t.Helper()
	d, err := secrets.Open(
		&config.SecretManagement{Type: "AGE", Config: config.SecretKeys{IdentityFile: "testdata/identity"}},
	)
	require.NoError(t, err)
	return d
}

func encryptAge(t testing.TB, armored bool) string {
	t.Helper()
	_, recipient, _ := strings.Cut(strings.SplitN(read(t, "identity"), "\n", 2)[0], ": ")
	parsed, err := age.ParseX25519Recipient(recipient)
	require.NoError(t, err)
	var file bytes.Buffer
	var out io.WriteCloser = nopCloser{&file}
	if armored {
		out = armor.NewWriter(&file)
	}
	writer, err := age.Encrypt(out, parsed)
	require.NoError(t, err)
	_, err = io.WriteString(writer, text)
	require.NoError(t, err)
	require.NoError(t, writer.Close())
	require.NoError(t, out.Close())
	if armored {
		return file.String()
	}
	return base64.StdEncoding.EncodeToString(file.Bytes())
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

func TestAgeFilesAreDecryptedArmoredAndAsBase64(t *testing.T) {
	t.Parallel()
	d := ageKeys(t)
	for _, armored := range []bool{true, false} {
		got, err := d.Decrypt(encryptAge(t, armored))
		require.NoError(t, err)
		require.Equal(t, text, got)
	}
	require.Empty(t, d.PublicKey(), "PipeCD's control plane could not encrypt with it")
	require.Len(t, d.Sensitive(), 1)
	for ciphertext, want := range map[string]string{
		encoded("my password"):                                    "not an age file",
		"my password!":                                            "not base64",
		encryptAge(t, true)[:100]:                                 "it is not an age file",
		encryptAge(t, true)[:300]:                                 "changed or lost",
		armor.Header + strings.Repeat("\n", 9):                    "it is not an age file",
		armor.Header + strings.Repeat("A", secrets.MaxCiphertext): "more than the 512 KiB",
	} {
		_, err := d.Decrypt(ciphertext)
		var broken *secrets.CipherError
		require.ErrorAs(t, err, &broken)
		require.ErrorContains(t, err, want)
	}
}

func FuzzDecrypt(f *testing.F) {
	pair, keys := keyPair(f), ageKeys(f)
	for _, seed := range []string{
		"", "my password", encoded("\x01\x00abc"), read(f, "ciphertext"), encryptAge(f, true), encryptAge(f, false),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, ciphertext string) {
		for _, d := range []secrets.Decrypter{pair, keys} {
			got, err := d.Decrypt(ciphertext)
			if err == nil && got != text && len(got) > len(ciphertext) {
				t.Errorf("%q decrypts to more than it holds", ciphertext)
			}
			if err != nil && got != "" {
				t.Errorf("%q gives a part of a secret: %q", ciphertext, got)
			}
		}
	})
}
