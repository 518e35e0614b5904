// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent_test

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/piped/pluginhost/fetch"
	"github.com/pipedeck/pipedeck/piped/pluginhost/fetch/signature"
)

// The plugins come from a web server and from a registry, each with its own form of signature. On Linux alone a
// process can be given which certificate authority to trust.
func TestSignedPluginsAreDownloadedAndRunStages(t *testing.T) {
	t.Parallel()
	site := t.TempDir()
	web := httptest.NewTLSServer(http.FileServer(http.Dir(site)))
	defer web.Close()
	authority := filepath.Join(t.TempDir(), "authority.pem")
	require.NoError(
		t,
		os.WriteFile(
			authority, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: web.Certificate().Raw}), 0o600,
		),
	)
	images := httptest.NewServer(
		registry.New(registry.Logger(log.New(io.Discard, "", 0)), registry.WithReferrersSupport(true)),
	)
	defer images.Close()

	release, err := signature.Generate(signature.Minisign)
	require.NoError(t, err)
	published := filepath.Join(site, "wait")
	program, err := os.ReadFile(bundled["wait"])
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(published, program, 0o600))
	text, err := release.Sign(strings.NewReader(string(program)), "wait v1")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(published+".minisig", text, 0o600))

	other, err := signature.Generate(signature.Sigstore)
	require.NoError(t, err)
	artifact := "oci://" + strings.TrimPrefix(images.URL, "http://") + "/plugins/scriptrun:v1"
	fetcher := fetch.New(fetch.Options{Dir: t.TempDir()})
	_, err = fetcher.Push(
		t.Context(), artifact, map[string]string{runtime.GOOS + "/" + runtime.GOARCH: bundled["scriptrun"]},
		&fetch.Signer{Key: other},
	)
	require.NoError(t, err)

	application := func(run string) string {
		return "apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: app\n  pipeline:\n    stages:\n" +
			"      - {name: WAIT, with: {duration: 1ms}}\n      - {name: SCRIPT_RUN, with: {run: " + run + "}}\n"
	}
	e := newEnvironment(t, application("'true'"))
	configured, err := os.ReadFile(e.config)
	require.NoError(t, err)
	e.write(
		t,
		"piped.yaml",
		string(configured)+fmt.Sprintf(`    - {name: wait, url: "%s/wait", port: 0, signature: {publicKey: %q}}
    - {name: scriptrun, url: %q, port: 0, signature: {publicKey: %s}}
`, web.URL, release.Public(), artifact, quoted(t, other.Public().String())),
	)
	variables := []string{"SSL_CERT_FILE=" + authority, "DOCKER_CONFIG=" + t.TempDir()}
	run := func() *pipedProcess {
		return execute(t, variables, append(e.flags("run"), "--config-file", e.config)...)
	}

	p := run()
	d := e.deck.awaitEnd(t, 0)
	require.Equal(t, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS, d.GetStatus(), d.GetStatusReason())
	p.terminate(t)

	// Neither server is needed once both are here, and nothing but what was signed ever runs.
	images.Close()
	exchanged := append(append([]byte{}, program...), "changed"...)
	require.NoError(t, os.WriteFile(published, exchanged, 0o600))
	e.commit(t, "second", application("'true again'"))
	p = run()
	d = e.deck.awaitEnd(t, 1)
	require.Equal(t, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_FAILURE, d.GetStatus())
	require.Contains(t, d.GetStatusReason(), "the binary is not the one that was signed")
	p.terminate(t)

	web.Close()
	require.NoError(t, os.Remove(published))
	e.reconfigure(
		t, `port: 0, signature: {publicKey: "RW`,
		fmt.Sprintf(`port: 0, sha256: %s, signature: {publicKey: "RW`, digestOf(t, bundled["wait"])),
	)
	e.commit(t, "third", application("'true and again'"))
	p = run()
	d = e.deck.awaitEnd(t, 2)
	require.Equal(t, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS, d.GetStatus(), d.GetStatusReason())
	p.terminate(t)
}

// quoted makes a text one of YAML.
func quoted(t *testing.T, text string) string {
	t.Helper()
	data, err := json.Marshal(text)
	require.NoError(t, err)
	return string(data)
}

func digestOf(t *testing.T, path string) string {
	t.Helper()
	digest, err := fetch.Digest(path)
	require.NoError(t, err)
	return digest
}
