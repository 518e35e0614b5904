// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent_test

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"filippo.io/age"
	"filippo.io/age/armor"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/pipedeck/pipedeck/api/controlplane/apiservice"
	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/devenv/controlplane/client"
)

const password = `correct-horse "battery" & staple/42`

// wiretap is a way to the control plane that keeps what piped sends over it.
type wiretap struct {
	address string
	mu      sync.Mutex
	sent    bytes.Buffer
}

func newWiretap(t *testing.T, target string) *wiretap {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	w := &wiretap{address: listener.Addr().String()}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			running.Go(func() { w.pass(from, target) })
		}
	})
	t.Cleanup(func() {
		listener.Close()
		running.Wait() // piped has ended, and with it its connections
	})
	return w
}

func (w *wiretap) pass(from net.Conn, target string) {
	defer from.Close()
	to, err := net.Dial("tcp", target)
	if err != nil {
		return
	}
	var back sync.WaitGroup
	back.Go(func() {
		_, _ = io.Copy(from, to)
		from.Close()
	})
	_, _ = io.Copy(io.MultiWriter(to, w), from)
	to.Close()
	back.Wait()
}

func (w *wiretap) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sent.Write(p)
}

func (w *wiretap) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sent.String()
}

// api is pipectl's way to the control plane.
func (e *environment) api(t *testing.T) apiservice.APIServiceClient {
	t.Helper()
	conn, err := client.Dial(e.address, apiKey)
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	return apiservice.NewAPIServiceClient(conn)
}

// addFile puts a file into the application's directory.
func (e *environment) addFile(t *testing.T, name, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(e.repository, "app", name), []byte(text), 0o600))
}

func withSecret(ciphertext, run string, targets ...string) string {
	return fmt.Sprintf(`apiVersion: pipecd.dev/v1beta1
kind: Application
spec:
  name: app
  planner: {alwaysUsePipeline: true}
  encryption:
    encryptedSecrets: {password: %q}
    decryptionTargets: [%s]
  pipeline:
    stages:
      - {name: SCRIPT_RUN, with: {run: %q}}
`, ciphertext, strings.Join(targets, ", "), run)
}

// requireNoSecret fails when one of the forms of the password stands in a text.
func requireNoSecret(t *testing.T, where, text string) {
	t.Helper()
	for _, form := range []string{
		password, base64.StdEncoding.EncodeToString([]byte(password)), strings.ReplaceAll(password, `"`, `\"`),
		"staple/42", "correct-horse",
	} {
		require.False(t, strings.Contains(text, form), "%s shows %s", where, form)
	}
}

// filesOf joins all files below a directory.
func filesOf(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		all.Write(content)
		return err
	}))
	return all.String()
}

func TestASecretReachesTheScriptAndNothingElse(t *testing.T) {
	t.Parallel()
	e := newBundled(t, "      - {name: WAIT, with: {duration: 1ms}}\n")
	tap := newWiretap(t, e.address)
	e.reconfigure(t, e.address, tap.address)
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	require.NoError(t, err)
	e.configure(t, fmt.Sprintf("  secretManagement: {type: KEY_PAIR, config: {privateKeyFile: %q, publicKeyFile: "+
		"%q}}\n",
		e.write(
			t, "private",
			string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})),
		),
		e.write(t, "public", string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})))))
	logs := filepath.Join(e.dir, "logs")
	p := e.start(t, "--log-level", "debug", "--log-file-dir", logs)
	e.deck.awaitEnd(t, 0)

	encrypted, err := e.api(t).Encrypt(t.Context(), &apiservice.EncryptRequest{PipedId: "piped", Plaintext: password})
	require.NoError(t, err, "piped has reported its public key")
	proof := filepath.Join(t.TempDir(), "proof")
	e.addFile(t, "run.sh", fmt.Sprintf(`secret='{{ .encryptedSecrets.password }}'
printf %%s "$secret" > %s
echo "visible $secret visible"
echo "to stderr $secret" >&2
printf %%s "$secret" | base64
printf 'in pieces: %%.10s' "$secret"; printf '%%s\n' "${secret#??????????}"
printf '{"json": "%%s"}\n' "$(printf %%s "$secret" | sed 's/"/\\"/g')"
stat -c 'mode %%a' run.sh 2>/dev/null || stat -f 'mode %%Lp' run.sh
`, proof))
	e.commit(t, "with a secret", withSecret(encrypted.GetCiphertext(), "sh ./run.sh", "run.sh"))
	d := e.deck.awaitEnd(t, 1)
	require.Equal(t, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS, d.GetStatus(), d.GetStatusReason())
	seen, err := os.ReadFile(proof)
	require.NoError(t, err)
	require.Equal(t, password, string(seen), "the script sees the secret")
	log := e.stageLog(t, d)
	require.Contains(t, log, "visible ****** visible")
	require.Contains(t, log, "to stderr ******")
	require.Contains(t, log, "in pieces: ******")
	require.Contains(t, log, "mode 600")
	requireNoSecret(t, "the stage log", log)

	// The planning fails with the secret in its error.
	e.addFile(t, "run.sh", "{{ fail .encryptedSecrets.password }}")
	e.commit(t, "with a mistake", withSecret(encrypted.GetCiphertext(), "sh ./run.sh", "run.sh"))
	d = e.deck.awaitEnd(t, 2)
	require.Equal(t, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_FAILURE, d.GetStatus())
	require.Contains(t, d.GetStatusReason(), "app/run.sh:1:")
	require.Contains(t, d.GetStatusReason(), "error calling fail: ******")

	p.terminate(t)
	for where, text := range map[string]string{
		"what piped sent":                tap.String(),
		"the output of piped":            p.output.String(),
		"the output of plugins":          filesOf(t, logs),
		"the work directory":             filesOf(t, filepath.Join(e.dir, "work")),
		"what the control plane reports": protojson.Format(d),
	} {
		require.NotEmpty(t, text, where)
		requireNoSecret(t, where, text)
	}
	require.Contains(t, tap.String(), "visible ****** visible", "the wiretap can read")
}

// stageLog is the log of the first stage.
func (e *environment) stageLog(t *testing.T, d *deckv1.Deployment) string {
	t.Helper()
	stream, err := e.user(t).WatchStageLog(
		t.Context(), &deckv1.WatchStageLogRequest{DeploymentId: d.GetId(), StageId: d.GetStages()[0].GetId()},
	)
	require.NoError(t, err)
	var log strings.Builder
	for {
		answer, err := stream.Recv()
		require.NoError(t, err)
		for _, block := range answer.GetBlocks() {
			log.WriteString(block.GetText())
		}
		if answer.GetCompleted() {
			return log.String()
		}
	}
}

// useAge configures piped with a new age identity, and returns the identity.
func (e *environment) useAge(t *testing.T) *age.X25519Identity {
	t.Helper()
	identity, err := age.GenerateX25519Identity()
	require.NoError(t, err)
	e.configure(
		t,
		fmt.Sprintf(
			"  secretManagement: {type: AGE, config: {identityFile: %q}}\n",
			e.write(t, "identity", identity.String()+"\n"),
		),
	)
	return identity
}

func TestMistakesInSecretsEndTheDeploymentAtOnceAndAgeKeysWork(t *testing.T) {
	t.Parallel()
	e := newBundled(t, "      - {name: WAIT, with: {duration: 1ms}}\n")
	identity := e.useAge(t)
	p := e.start(t)
	e.deck.awaitEnd(t, 0)

	e.addFile(
		t, "run.sh",
		"test '{{ .encryptedSecrets.password }}' = '"+strings.ReplaceAll(password, "battery", "'battery'")+"'",
	)
	e.commit(t, "plain text in place of a secret", withSecret("my password!", "sh ./run.sh", "run.sh"))
	d := e.deck.awaitEnd(t, 1)
	require.Equal(t, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_FAILURE, d.GetStatus())
	require.Contains(
		t, d.GetStatusReason(),
		"app/app.pipecd.yaml: spec.encryption.encryptedSecrets.password: cannot be decrypted: it is not base64",
	)
	require.Empty(t, d.GetStages())

	e.commit(t, "with an age file", withSecret(encryptFor(t, identity), "sh ./run.sh", "run.sh"))
	d = e.deck.awaitEnd(t, 2)
	require.Equal(t, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS, d.GetStatus(), d.GetStatusReason())

	_, err := e.api(t).Encrypt(t.Context(), &apiservice.EncryptRequest{PipedId: "piped", Plaintext: password})
	require.ErrorContains(t, err, "KEY_PAIR", "a control plane cannot encrypt for age keys")
	p.terminate(t)
}

// encryptFor encrypts the password as the program age would.
func encryptFor(t *testing.T, identity *age.X25519Identity) string {
	t.Helper()
	var file bytes.Buffer
	armored := armor.NewWriter(&file)
	writer, err := age.Encrypt(armored, identity.Recipient())
	require.NoError(t, err)
	_, err = io.WriteString(writer, password)
	require.NoError(t, err)
	require.NoError(t, writer.Close())
	require.NoError(t, armored.Close())
	return file.String()
}

func TestAMistakeInTheKeysEndsPiped(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, pipeline("{}"))
	e.configure(
		t,
		fmt.Sprintf(
			"  secretManagement: {type: AGE, config: {identityFile: %q}}\n",
			e.write(t, "identity", "AGE-SECRET-KEY-1SESAME\n"),
		),
	)
	p := e.start(t)
	require.Equal(t, 1, p.exit(t))
	require.Contains(t, p.output.String(), "spec.secretManagement.config.identityFile: it holds no age identities")
	require.NotContains(t, p.output.String(), "SESAME")
}

func TestAKilledPipedLeavesNoSecretToTheNext(t *testing.T) {
	t.Parallel()
	e := newBundled(t, "      - {name: WAIT, with: {duration: 1ms}}\n")
	identity := e.useAge(t)
	first := e.start(t)
	e.deck.awaitEnd(t, 0)

	dir := t.TempDir()
	started, door := filepath.Join(dir, "started"), filepath.Join(dir, "door")
	require.NoError(t, syscall.Mkfifo(door, 0o600))
	e.addFile(t, "secret.txt", "{{ .encryptedSecrets.password }}")
	e.commit(
		t, "with a secret",
		withSecret(
			encryptFor(t, identity),
			fmt.Sprintf("pwd > %[1]s.new && mv %[1]s.new %[1]s && read line < %[2]s", started, door), "secret.txt",
		),
	)
	workDir := func() string {
		var where []byte
		var err error
		require.Eventually(
			t, func() bool { where, err = os.ReadFile(started); return err == nil }, wait, time.Millisecond,
		)
		require.NoError(t, os.Remove(started))
		return strings.TrimSpace(string(where))
	}
	before := workDir()
	content, err := os.ReadFile(filepath.Join(before, "secret.txt"))
	require.NoError(t, err)
	require.Equal(t, password, string(content))
	require.NoError(t, first.Process.Kill())
	first.exit(t)
	require.FileExists(t, filepath.Join(before, "secret.txt"))

	second := e.start(t)
	now := workDir()
	require.FileExists(t, filepath.Join(now, "secret.txt"), "the second attempt")
	// One for the stage, and one that is prepared ahead; none of the killed process.
	plain, err := filepath.Glob(filepath.Join(e.dir, "work", "sources", "*", "app", "secret.txt"))
	require.NoError(t, err)
	require.LessOrEqual(t, len(plain), 2)
	for _, path := range plain {
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	}
	// A line for each script: that of the killed piped may not have ended yet. Open for both, so that the door stays
	// open until the second one comes to it.
	opened, err := os.OpenFile(door, os.O_RDWR, 0)
	require.NoError(t, err)
	defer opened.Close()
	_, err = opened.WriteString("open\nopen\n")
	require.NoError(t, err)
	d := e.deck.awaitEnd(t, 1)
	require.Equal(t, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS, d.GetStatus(), d.GetStatusReason())
	second.terminate(t)
	requireNoSecret(t, "the work directory", filesOf(t, filepath.Join(e.dir, "work")))
}
