// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package signature

import (
	"crypto/rand"
	"encoding/json"
	"errors"

	"golang.org/x/crypto/nacl/secretbox"
	"golang.org/x/crypto/scrypt"
)

var errCost = errors.New("its key derivation asks for too much")

// The cost of scrypt in keys that are written, as cosign has it: 64 MiB. Dearer ones are read up to maxMemory.
const (
	costN, costR, costP = 1 << 16, 8, 1
	maxMemory           = 1 << 30 // bytes
	maxCostP            = 16
	saltSize            = 32
)

// sealed is the JSON of cosign's encrypted keys.
type sealed struct {
	KDF struct {
		Name   string `json:"name"`
		Params struct {
			N int `json:"N"`
			R int `json:"r"`
			P int `json:"p"`
		} `json:"params"`
		Salt []byte `json:"salt"`
	} `json:"kdf"`
	Cipher struct {
		Name  string `json:"name"`
		Nonce []byte `json:"nonce"`
	} `json:"cipher"`
	Ciphertext []byte `json:"ciphertext"`
}

const (
	kdfScrypt       = "scrypt"
	cipherSecretbox = "nacl/secretbox"
)

// seal encrypts; n is the cost of scrypt.
func seal(plain []byte, password string, n int) ([]byte, error) {
	var s sealed
	s.KDF.Name, s.Cipher.Name = kdfScrypt, cipherSecretbox
	s.KDF.Params.N, s.KDF.Params.R, s.KDF.Params.P = n, costR, costP
	var nonce [24]byte
	s.KDF.Salt = make([]byte, saltSize)
	// rand.Read of crypto/rand never fails.
	_, _ = rand.Read(s.KDF.Salt)
	_, _ = rand.Read(nonce[:])
	s.Cipher.Nonce = nonce[:]
	key, err := s.key(password)
	if err != nil {
		return nil, err
	}
	s.Ciphertext = secretbox.Seal(nil, plain, &nonce, &key)
	return json.Marshal(s)
}

func unseal(data []byte, password string) ([]byte, error) {
	var s sealed
	if err := json.Unmarshal(data, &s); err != nil || s.KDF.Name != kdfScrypt || s.Cipher.Name != cipherSecretbox ||
		len(s.Cipher.Nonce) != 24 {
		return nil, wrong(nameKey, "the private key is encrypted in an unknown way")
	}
	key, err := s.key(password)
	if err != nil {
		return nil, wrong(nameKey, "the private key is encrypted in an unknown way: %w", err)
	}
	plain, ok := secretbox.Open(nil, s.Ciphertext, (*[24]byte)(s.Cipher.Nonce), &key)
	if !ok {
		return nil, errPassword()
	}
	return plain, nil
}

// key derives the key of the cipher. What the file asks for has a bound.
func (s *sealed) key(password string) (key [32]byte, err error) {
	p := s.KDF.Params
	if p.N < 2 || p.R < 1 || p.P < 1 || p.P > maxCostP || p.R > maxMemory/128/p.P || p.N > maxMemory/128/p.R {
		return key, errCost
	}
	derived, err := scrypt.Key([]byte(password), s.KDF.Salt, p.N, p.R, p.P, len(key))
	copy(key[:], derived)
	return key, err
}
