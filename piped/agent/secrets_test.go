// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/secrets"
	"github.com/pipedeck/pipedeck/system/clock"
)

func TestTheIntroductionReportsThePublicKeyOfKeyPairsAlone(t *testing.T) {
	t.Parallel()
	const testdata = "../secrets/testdata/"
	public, err := os.ReadFile(testdata + "public")
	require.NoError(t, err)
	for name, c := range map[string]struct {
		management *config.SecretManagement
		kind, key  string
	}{
		"key pair": {&config.SecretManagement{Type: "KEY_PAIR", Config: config.SecretKeys{
			PrivateKeyFile: testdata + "private", PublicKeyFile: testdata + "public"}}, "KEY_PAIR", string(public)},
		"age": {&config.SecretManagement{Type: "AGE", Config: config.SecretKeys{IdentityFile: testdata + "identity"}},
			"NONE", ""},
		"none": {nil, "NONE", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			piped := parsed(t)
			piped.SecretManagement = c.management
			decrypter, err := openSecrets(piped, "", secrets.NewMasker())
			require.NoError(t, err)
			plane := &controlPlane{answers: []error{nil}}
			require.NoError(t, introduction{plane, piped, decrypter, "v1", clock.System{},
				slog.New(slog.DiscardHandler)}.send(t.Context()))
			require.Equal(t, c.kind, plane.meta.GetSecretEncryption().GetType())
			require.Equal(t, c.key, plane.meta.GetSecretEncryption().GetPublicKey())
			require.NoError(t, plane.meta.GetSecretEncryption().Validate())
		})
	}
}

func TestWhatTheConfigurationHoldsAndNamesIsMasked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		return path
	}
	identity, err := os.ReadFile("../secrets/testdata/identity")
	require.NoError(t, err)
	piped := parsed(t)
	piped.Git.SSHKeyFile = file("ssh", "-----BEGIN KEY-----\nc3NoLWtleS1saW5l\n-----END KEY-----\n")
	piped.Notifications.Receivers = []config.NotificationReceiver{
		{Slack: &config.SlackTarget{OAuthTokenFile: file("slack", "slack-token\n")}},
		{Webhook: &config.Webhook{SignatureValueFile: file("hook", "hook-signature\n")}},
	}
	piped.SecretManagement = &config.SecretManagement{Type: "AGE",
		Config: config.SecretKeys{IdentityFile: file("age", string(identity))}}
	masker := secrets.NewMasker()
	_, err = openSecrets(piped, "the piped key of a file", masker)
	require.NoError(t, err)
	for _, secret := range []string{
		"c3NoLWtleS1saW5l", "slack-token", "hook-signature", "the piped key of a file", "the secret key",
		"secret password",
		"AGE-SECRET-KEY-1V4L028MHW9EHMUJ6RL4CZPLPVPALY8Z9RVAC6RANNJZ0VZWJ8S6SNVCA8A",
	} {
		require.Equal(t, secrets.Mask, masker.Mask(secret), secret)
	}
}
