// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/git"
	"github.com/pipedeck/pipedeck/piped/secrets"
)

// vector is a secret that the test's keys open, and sealed its encrypted form.
const vector = "the moon is made of cheese\nand so is the sun\n"

func sealed(t testing.TB) string {
	t.Helper()
	content, err := os.ReadFile("../secrets/testdata/ciphertext")
	require.NoError(t, err)
	return strings.TrimSpace(string(content))
}

func decrypting(t testing.TB) (*Store, *secrets.Masker) {
	t.Helper()
	decrypter, err := secrets.Open(&config.SecretManagement{Type: "KEY_PAIR", Config: config.SecretKeys{
		PrivateKeyFile: "../secrets/testdata/private", PublicKeyFile: "../secrets/testdata/public",
	}})
	require.NoError(t, err)
	masker := secrets.NewMasker()
	store, err := New(Options{Dir: filepath.Join(t.TempDir(), "sources"), Decrypter: decrypter, Masker: masker})
	require.NoError(t, err)
	return store, masker
}

// linked is a repository whose checkouts share their files with a mirror by hard links, and which may
// hold symbolic links.
type linked struct {
	mirror string
	files  map[string]string
	links  map[string]string
	mu     sync.Mutex
}

func (l *linked) ID() string { return "apps" }

func (l *linked) Checkout(_ context.Context, _, dir string) ([]git.LeftOut, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for name, content := range l.files {
		kept, path := filepath.Join(l.mirror, name), filepath.Join(dir, name)
		for _, each := range []string{kept, path} {
			if err := os.MkdirAll(filepath.Dir(each), 0o755); err != nil {
				return nil, err
			}
		}
		if _, err := os.Stat(kept); err != nil {
			mode := os.FileMode(0o644)
			if strings.HasSuffix(name, ".sh") {
				mode = 0o755
			}
			if err := os.WriteFile(kept, []byte(content), mode); err != nil {
				return nil, err
			}
		}
		if err := os.Link(kept, path); err != nil {
			return nil, err
		}
	}
	for name, target := range l.links {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

func secretConfig(ciphertext string, targets ...string) string {
	return goodConfig + fmt.Sprintf(
		"  encryption:\n    encryptedSecrets: {moon: %q}\n    decryptionTargets: [%s]\n", ciphertext,
		strings.Join(targets, ", "),
	)
}

func TestSecretsAndAttachmentsAreFilledInAndTheMirrorStaysAsItIs(t *testing.T) {
	t.Parallel()
	store, masker := decrypting(t)
	repository := &linked{mirror: t.TempDir(), files: map[string]string{
		"web/app.pipecd.yaml": secretConfig(sealed(t), "secret.yaml", "run.sh", "linked.yaml") +
			"  attachment:\n    sources: {settings: conf/settings.yaml, secret: secret.yaml}\n    targets: " +
			"[map.yaml]\n",
		"web/secret.yaml":        "data: {{ .encryptedSecrets.moon | trim | b64enc }}\n",
		"web/run.sh":             "echo '{{ .encryptedSecrets.moon }}'\n",
		"web/base/real.yaml":     "real: {{ .encryptedSecrets.moon | quote }}\n",
		"web/conf/settings.yaml": "color: blue",
		"web/map.yaml":           "settings: {{ .attachment.settings }}\nsecret: {{ .attachment.secret }}",
		"web/untouched":          "{{ .encryptedSecrets.moon }}",
	}, links: map[string]string{"web/linked.yaml": "base/real.yaml"}}
	source, err := store.Prepare(t.Context(), Request{Repository: repository, Commit: "c", Path: "web"})
	require.NoError(t, err)
	read := func(name string) string {
		content, err := os.ReadFile(filepath.Join(source.ApplicationDirectory, name))
		require.NoError(t, err)
		return string(content)
	}
	require.Equal(t, "data: dGhlIG1vb24gaXMgbWFkZSBvZiBjaGVlc2UKYW5kIHNvIGlzIHRoZSBzdW4=\n", read("secret.yaml"))
	require.Equal(t, "echo '"+vector+"'\n", read("run.sh"))
	require.Equal(
		t, "real: \"the moon is made of cheese\\nand so is the sun\\n\"\n", read("base/real.yaml"),
		"a link leads to the file",
	)
	require.Equal(
		t, "settings: color: blue\nsecret: data: dGhlIG1vb24gaXMgbWFkZSBvZiBjaGVlc2UKYW5kIHNvIGlzIHRoZSBzdW4=\n",
		read("map.yaml"),
	)
	require.Equal(t, "{{ .encryptedSecrets.moon }}", read("untouched"))
	require.NotContains(t, string(source.Proto().ApplicationConfig), "cheese")

	for name, want := range map[string]os.FileMode{"secret.yaml": 0o600, "run.sh": 0o700, "map.yaml": 0o600} {
		info, err := os.Stat(filepath.Join(source.ApplicationDirectory, name))
		require.NoError(t, err)
		require.Equal(t, want, info.Mode().Perm(), name)
	}
	for _, dir := range []string{store.dir, source.RepositoryDirectory} {
		info, err := os.Stat(dir)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	}
	entries, err := os.ReadDir(source.ApplicationDirectory)
	require.NoError(t, err)
	require.Len(t, entries, 8, "nothing temporary is left")
	kept, err := os.ReadFile(filepath.Join(repository.mirror, "web/secret.yaml"))
	require.NoError(t, err)
	require.Equal(t, repository.files["web/secret.yaml"], string(kept))

	require.Equal(t, "log: ******", masker.Mask("log: the moon is made of cheese"))
	require.NoError(t, source.Close())
	require.NoDirExists(t, source.RepositoryDirectory, "it is not kept for a later call")
	require.Equal(t, "log: ******", masker.Mask("log: the moon is made of cheese"), "late log lines are masked as well")
}

func TestSecretsAreRemovedAtTheNextStartAfterACrash(t *testing.T) {
	t.Parallel()
	store, _ := decrypting(t)
	repository := &linked{mirror: t.TempDir(), files: map[string]string{
		"web/app.pipecd.yaml": secretConfig(sealed(t), "a"), "web/a": "{{ .encryptedSecrets.moon }}",
	}}
	source, err := store.Prepare(t.Context(), Request{Repository: repository, Commit: "c", Path: "web"})
	require.NoError(t, err)
	require.FileExists(t, filepath.Join(source.ApplicationDirectory, "a"))
	// The first store is not closed: its process has died.
	next, err := New(Options{Dir: store.dir})
	require.NoError(t, err)
	require.NoDirExists(t, source.RepositoryDirectory)
	require.NoError(t, next.Close())
}

func TestApplicationsOfOneCommitDoNotSeeEachOthersSecrets(t *testing.T) {
	t.Parallel()
	store, _ := decrypting(t)
	repository := &linked{mirror: t.TempDir(), files: map[string]string{
		"web/app.pipecd.yaml":   secretConfig(sealed(t), "a"),
		"web/a":                 "{{ .encryptedSecrets.moon }}",
		"other/app.pipecd.yaml": goodConfig,
	}}
	web, err := store.Prepare(t.Context(), Request{Repository: repository, Commit: "c", Path: "web"})
	require.NoError(t, err)
	other, err := store.Prepare(t.Context(), Request{Repository: repository, Commit: "c", Path: "other"})
	require.NoError(t, err)
	require.NotEqual(t, web.RepositoryDirectory, other.RepositoryDirectory)
	require.NoError(t, web.Close())
	require.NoError(t, other.Close())
	other, err = store.Prepare(t.Context(), Request{Repository: repository, Commit: "c", Path: "other"})
	require.NoError(t, err)
	content, err := os.ReadFile(filepath.Join(other.RepositoryDirectory, "web/a"))
	require.NoError(t, err)
	require.Equal(t, "{{ .encryptedSecrets.moon }}", string(content))
	require.NoError(t, other.Close())
}

func TestMistakesEndThePreparationWithTheirPlace(t *testing.T) {
	t.Parallel()
	good := sealed(t)
	attach := func(source, target string) string {
		return goodConfig + fmt.Sprintf("  attachment:\n    sources: {a: %s}\n    targets: [%s]\n", source, target)
	}
	for name, c := range map[string]struct {
		config string
		want   string
	}{
		"plain text as a secret": {
			secretConfig("hunter2!", "a"),
			"web/app.pipecd.yaml: spec.encryption.encryptedSecrets.moon: cannot be decrypted: it is not base64",
		},
		"cut ciphertext": {secretConfig(good[:200], "a"), "encryptedSecrets.moon: cannot be decrypted"},
		"missing target": {
			secretConfig(good, "nowhere.yaml"),
			"spec.encryption.decryptionTargets[0]: the file nowhere.yaml is missing at commit c",
		},
		"unknown name": {
			secretConfig(good, "a", "wrong"),
			`web/wrong:1:21: cannot be filled as spec.encryption.decryptionTargets[1] asks: ` +
				`there is no "sun" in .encryptedSecrets: there are moon`,
		},
		"value in the message": {
			secretConfig(good, "fails"), "asks: at <fail .encryptedSecrets.moon>: error calling fail: ******",
		},
		"directory":          {secretConfig(good, "base"), "the file base cannot be used: it is not a file"},
		"parent":             {secretConfig(good, "../other/a"), "is outside of the application directory"},
		"absolute":           {secretConfig(good, "/etc/passwd"), "is outside of the application directory"},
		"link to the parent": {secretConfig(good, "up"), "the file up cannot be used: path escapes from parent"},
		"link out":           {secretConfig(good, "out"), "the file out cannot be used: path escapes from parent"},
		"linked directory":   {secretConfig(good, "updir/a"), "path escapes from parent"},
		"attached parent":    {attach("../other/a", "a"), "is outside of the application directory"},
		"attached link out": {
			attach("out", "a"), "spec.attachment.sources.a: the file out cannot be used: path escapes from parent",
		},
		"missing attachment":    {attach("nowhere", "a"), "spec.attachment.sources.a: the file nowhere is missing"},
		"target of attachments": {attach("a", "out"), "spec.attachment.targets[0]: the file out cannot be used"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store, _ := decrypting(t)
			outside := filepath.Join(t.TempDir(), "outside")
			require.NoError(t, os.WriteFile(outside, []byte("{{ .encryptedSecrets.moon }}"), 0o600))
			repository := &linked{mirror: t.TempDir(), files: map[string]string{
				"web/app.pipecd.yaml": c.config, "web/a": "{{ .encryptedSecrets.moon }}",
				"web/wrong": "{{ .encryptedSecrets.sun }}",
				"web/fails": "{{ fail .encryptedSecrets.moon }}", "web/base/b": "",
				"other/a": "{{ .encryptedSecrets.moon }}",
			}, links: map[string]string{"web/up": "../other/a", "web/out": outside, "web/updir": "../other"}}
			_, err := store.Prepare(t.Context(), Request{Repository: repository, Commit: "c", Path: "web"})
			var mistake *config.Error
			require.ErrorAs(t, err, &mistake)
			require.ErrorContains(t, err, c.want)
			require.NotContains(t, err.Error(), "cheese")
			left, err := os.ReadDir(store.dir)
			require.NoError(t, err)
			require.LessOrEqual(t, len(left), len(store.idle), "nothing with a secret is left")
			content, err := os.ReadFile(outside)
			require.NoError(t, err)
			require.Equal(t, "{{ .encryptedSecrets.moon }}", string(content))
		})
	}
}

func TestASecretThatCannotBeDecryptedHidesNoOtherMistake(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ciphertext, target string
		want               []string
	}{
		"of the secrets": {"hunter2!", "nowhere.yaml", []string{
			"spec.encryption.encryptedSecrets.moon: cannot be decrypted: it is not base64: was the plain text put in " +
				"its place, or a part of it lost?",
			"spec.encryption.decryptionTargets[0]: the file nowhere.yaml is missing at commit c",
			"spec.attachment.sources.a: the file gone is missing at commit c",
			"spec.attachment.targets[0]: the file lost is missing at commit c",
		}},
		"of the attachments": {sealed(t), "nowhere.yaml", []string{
			"spec.encryption.decryptionTargets[0]: the file nowhere.yaml is missing at commit c",
			"spec.attachment.sources.a: the file gone is missing at commit c",
			"spec.attachment.targets[0]: the file lost is missing at commit c",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store, _ := decrypting(t)
			repository := &linked{mirror: t.TempDir(), files: map[string]string{
				"web/app.pipecd.yaml": secretConfig(c.ciphertext, c.target) +
					"  attachment: {sources: {a: gone}, targets: [lost]}\n",
			}}
			_, err := store.Prepare(t.Context(), Request{Repository: repository, Commit: "c", Path: "web"})
			mistakes, is := errors.AsType[config.Errors](err)
			require.True(t, is, "%v", err)
			var got []string
			for _, m := range mistakes {
				got = append(got, m.Field+": "+m.Message)
			}
			require.Equal(t, c.want, got)
		})
	}
}

func TestAnApplicationDirectoryThatLeadsOutIsRefused(t *testing.T) {
	t.Parallel()
	store, _ := decrypting(t)
	outside := t.TempDir()
	require.NoError(
		t, os.WriteFile(filepath.Join(outside, "app.pipecd.yaml"), []byte(secretConfig(sealed(t), "a")), 0o600),
	)
	repository := &linked{
		mirror: t.TempDir(), files: map[string]string{"README": ""}, links: map[string]string{"web": outside},
	}
	_, err := store.Prepare(t.Context(), Request{Repository: repository, Commit: "c", Path: "web"})
	require.ErrorContains(t, err, "path escapes from parent")
}

func TestWithoutAKeySecretsAreAnErrorAndOthersAreNot(t *testing.T) {
	t.Parallel()
	store := newStore(t)
	request := func(config string) Request {
		return Request{Repository: &linked{mirror: t.TempDir(), files: map[string]string{
			"web/app.pipecd.yaml": config, "web/a": "{{ len .encryptedSecrets }}", "web/b": "{{ .attachment.c }}",
			"web/c": "content",
		}}, Commit: "c", Path: "web"}
	}
	_, err := store.Prepare(t.Context(), request(secretConfig(sealed(t), "a")))
	require.ErrorContains(t, err, "set spec.secretManagement")

	source, err := store.Prepare(t.Context(), request(goodConfig+
		"  encryption: {decryptionTargets: [a]}\n  attachment: {sources: {c: c}, targets: [b]}\n"))
	require.NoError(t, err)
	for name, want := range map[string]string{"a": "0", "b": "content"} {
		content, err := os.ReadFile(filepath.Join(source.ApplicationDirectory, name))
		require.NoError(t, err)
		require.Equal(t, want, string(content))
	}
	require.NoError(t, source.Close())
}
