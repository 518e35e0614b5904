// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package share

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"golang.org/x/crypto/ssh"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/system/inputfile"
)

// maxKeysFile bounds the file of authorized keys, in bytes.
const maxKeysFile = 1 << 20

// authorized returns the keys that may log in; none without a file. It reads the file once, before anything is served.
// A key with options is refused: most of them restrict it in ways that this server does not know.
func (f *Flags) authorized(ctx context.Context) (keys []ssh.PublicKey, err error) {
	if f.keys == "" {
		return nil, nil
	}
	const next = "name a file with public keys, one a line, such as id_ed25519.pub"
	content, err := inputfile.Read(ctx, f.keys, maxKeysFile+1)
	if err == nil && len(content) > maxKeysFile {
		err = fmt.Errorf("%s is larger than %d bytes", f.keys, maxKeysFile)
	}
	if err != nil {
		return nil, exit.Usage(fmt.Errorf("--ssh-authorized-keys: %w", err), next)
	}
	for i, line := range bytes.Split(content, []byte("\n")) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		key, _, options, _, err := ssh.ParseAuthorizedKey(line)
		if err == nil && len(options) > 0 {
			err = fmt.Errorf("the key has the option %s, which pipedeck does not support", options[0])
		}
		if err != nil {
			return nil, exit.Usage(fmt.Errorf("%s:%d: %w", f.keys, i+1, err), next+", without options")
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return nil, exit.Usage(errors.New(f.keys+" has no key"), next)
	}
	return keys, nil
}
