// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package configuration

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"filippo.io/age"

	"github.com/pipedeck/pipedeck/api/controlplane/apiservice"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/devenv/controlplane/publicapi"
	"github.com/pipedeck/pipedeck/devenv/ownpiped"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/system/inputfile"
)

// maxKeyFile bounds the file of a key, in bytes.
const maxKeyFile = 64 << 10

// recipient says which key a secret is encrypted for: that of a file, that of a piped configuration, or that of the
// running environment.
type recipient struct{ key, pipedConfig string }

// encrypter encrypts a secret.
type encrypter func(ctx context.Context, secret string) (string, error)

// choose returns what encrypts for the recipient, and what is called afterwards.
func (r *recipient) choose(ctx context.Context, t *session.Target) (encrypt encrypter, done func(), err error) {
	done = func() {}
	switch {
	case r.key != "":
		encrypt, err = forKeyFile(ctx, r.key)
		return encrypt, done, err
	case r.pipedConfig != "":
		encrypt, err = forPipedConfig(ctx, r.pipedConfig)
		return encrypt, done, err
	}
	return forEnvironment(ctx, t)
}

// forEnvironment encrypts for the key of the running environment. The control plane knows key pairs only, so that
// identities of age are taken from the configuration of its piped.
func forEnvironment(ctx context.Context, t *session.Target) (encrypter, func(), error) {
	w, err := t.Workspace()
	if err != nil {
		return nil, nil, err
	}
	_, conn, err := t.Connect(ctx)
	if err != nil {
		return nil, nil, err
	}
	done := func() { _ = conn.Close() } // nothing is left to send
	keys, err := ownpiped.SecretManagement(w.PipedConfig())
	if err == nil && keys != nil && keys.Type == config.SecretsAge {
		encrypt, err := forKeys(ctx, keys, w.PipedConfig())
		return encrypt, done, err
	}
	return byControlPlane(w, apiservice.NewAPIServiceClient(conn)), done, nil
}

func byControlPlane(w *workspace.Workspace, api apiservice.APIServiceClient) encrypter {
	return func(ctx context.Context, secret string) (string, error) {
		ctx, cancel := context.WithTimeout(ctx, session.CallTimeout)
		defer cancel()
		answer, err := api.Encrypt(ctx, &apiservice.EncryptRequest{PipedId: w.PipedID(), Plaintext: secret})
		if err != nil {
			return "", notEncrypted(err)
		}
		return answer.GetCiphertext(), nil
	}
}

// forPipedConfig encrypts for the keys that a piped configuration names.
func forPipedConfig(ctx context.Context, file string) (encrypter, error) {
	keys, err := ownpiped.SecretManagement(file)
	if mistakes := (config.Errors)(nil); errors.As(err, &mistakes) {
		return nil, exit.Usage(err, "correct the file, and run it again")
	}
	if err != nil {
		return nil, exit.Usage(err, "give the file of a piped configuration: --piped-config piped.yaml")
	}
	if keys == nil {
		return nil, exit.Usage(fmt.Errorf("%s has no spec.secretManagement", file),
			"add the key of piped there, or give its public key with --key FILE")
	}
	return forKeys(ctx, keys, file)
}

// forKeys encrypts for the keys of a piped. file is where they are configured.
func forKeys(ctx context.Context, keys *config.SecretManagement, file string) (encrypter, error) {
	c := keys.Config
	path, data, public := c.PublicKeyFile, c.PublicKeyData, true
	switch keys.Type {
	case config.SecretsKeyPair:
	case config.SecretsAge:
		path, data, public = c.IdentityFile, c.IdentityData, false
	default:
		return nil, exit.Usage(fmt.Errorf("%s: secrets of the type %s are not encrypted here", file, keys.Type),
			"use the type KEY_PAIR or AGE")
	}
	name := file
	text, err := base64.StdEncoding.DecodeString(data)
	if path != "" {
		name = path
		text, err = readKeyFile(ctx, path)
	}
	switch {
	case err != nil:
		return nil, err
	case public:
		return forPublicKey(text, name)
	}
	return forIdentities(text, name)
}

// forKeyFile encrypts for the public key in a file.
func forKeyFile(ctx context.Context, file string) (encrypter, error) {
	text, err := readKeyFile(ctx, file)
	if err != nil {
		return nil, err
	}
	return forPublicKey(text, file)
}

func readKeyFile(ctx context.Context, file string) ([]byte, error) {
	text, err := inputfile.Read(ctx, file, maxKeyFile+1)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, exit.Usage(fmt.Errorf("the key file %s does not exist", file),
			"give the public key of piped: --key FILE")
	case err != nil:
		return nil, exit.Usage(fmt.Errorf("read the key: %w", err), "give a file that can be read")
	case len(text) > maxKeyFile:
		return nil, exit.Usage(fmt.Errorf("%s has more than %d KiB: it is no key", file, maxKeyFile>>10),
			"give the public key of piped: --key FILE")
	}
	return text, nil
}

// forPublicKey encrypts for a key in PEM form, or for recipients of age. Errors do not repeat the key: it may be a
// private one.
func forPublicKey(text []byte, file string) (encrypter, error) {
	switch {
	case bytes.Contains(text, []byte("PRIVATE KEY-----")):
		return nil, exit.Usage(fmt.Errorf("%s holds a private key", file),
			"give its public key, which this command makes: openssl rsa -in "+file+" -pubout")
	case bytes.Contains(text, []byte("AGE-SECRET-KEY-")):
		return nil, exit.Usage(fmt.Errorf("%s holds an age identity, which is private", file),
			"give its recipient, which this command shows: age-keygen -y "+file)
	case bytes.HasPrefix(bytes.TrimSpace(text), []byte("-----BEGIN")):
		if _, err := publicapi.Seal(text, nil); err != nil {
			return nil, exit.Usage(fmt.Errorf("%s is not a public key for secrets: %w", file, err),
				"give an RSA key as openssl rsa -in PRIVATE -pubout writes it")
		}
		return func(_ context.Context, secret string) (string, error) {
			return publicapi.Seal(text, []byte(secret))
		}, nil
	}
	recipients, err := age.ParseRecipients(bytes.NewReader(text))
	if err != nil {
		return nil, exit.Usage(fmt.Errorf("%s is neither a public key in PEM form nor recipients of age", file),
			"give an RSA key as openssl rsa -in PRIVATE -pubout writes it, or lines that begin with age1")
	}
	return forRecipients(recipients), nil
}

// forIdentities encrypts for the recipients of age identities.
func forIdentities(text []byte, file string) (encrypter, error) {
	identities, err := age.ParseIdentities(bytes.NewReader(text))
	if err != nil { // whose text may repeat a line
		return nil, exit.Usage(fmt.Errorf("%s holds no age identities", file), "make one with age-keygen -o "+file)
	}
	var recipients []age.Recipient
	for _, identity := range identities {
		switch one := identity.(type) {
		case *age.X25519Identity:
			recipients = append(recipients, one.Recipient())
		case *age.HybridIdentity:
			recipients = append(recipients, one.Recipient())
		}
	}
	if len(recipients) != len(identities) {
		return nil, exit.Usage(fmt.Errorf("%s holds an age identity of an unknown kind", file),
			"encrypt with age --armor -r RECIPIENT")
	}
	return forRecipients(recipients), nil
}

// forRecipients encrypts with age, in base64.
func forRecipients(recipients []age.Recipient) encrypter {
	return func(_ context.Context, secret string) (string, error) {
		var sealed bytes.Buffer
		w, err := age.Encrypt(&sealed, recipients...)
		if err == nil {
			_, err = io.Copy(w, strings.NewReader(secret))
		}
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			return "", fmt.Errorf("encrypt for age: %w", err)
		}
		return base64.StdEncoding.EncodeToString(sealed.Bytes()), nil
	}
}
