// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package secrets

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/binary"
	"encoding/pem"
	"errors"
	"fmt"

	"github.com/pipedeck/pipedeck/piped/config"
)

// keyPair opens what PipeCD v1 encrypts: in base64, the length of the RSA part as two bytes, the
// most significant first; a key of 32 bytes, encrypted by RSA-OAEP with SHA-256; and the text, encrypted
// with that key by AES-GCM with a nonce of zeros.
type keyPair struct {
	private *rsa.PrivateKey
	public  string
	text    string // of the private key
}

const keyPairHint = "encrypt it for this piped with pipedeck encrypt"

func openKeyPair(c config.SecretKeys) (*keyPair, error) {
	text, field, err := readKey("privateKey", c.PrivateKeyFile, c.PrivateKeyData)
	if err != nil {
		return nil, err
	}
	private, err := parsePrivateKey([]byte(text))
	if err != nil {
		return nil, &KeyError{field, err}
	}
	publicText, field, err := readKey("publicKey", c.PublicKeyFile, c.PublicKeyData)
	if err != nil {
		return nil, err
	}
	public, err := parsePublicKey([]byte(publicText))
	if err != nil {
		return nil, &KeyError{field, err}
	}
	if !public.Equal(&private.PublicKey) {
		return nil, &KeyError{field, errors.New("it does not belong to the private key: what is encrypted with it " +
			"could never be decrypted; " +
			"create it again with openssl rsa -in PRIVATE -pubout")}
	}
	return &keyPair{private: private, public: publicText, text: text}, nil
}

func (k *keyPair) PublicKey() string   { return k.public }
func (k *keyPair) Sensitive() []string { return []string{k.text} }

func (k *keyPair) Decrypt(ciphertext string) (string, error) {
	data, err := decode(ciphertext)
	if err != nil {
		return "", err
	}
	wrapped, sealed, err := splitHybrid(data)
	if err != nil {
		return "", err
	}
	key, err := rsa.DecryptOAEP(sha256.New(), nil, k.private, wrapped, nil)
	if err != nil || len(key) != 32 {
		return "", &CipherError{
			Problem: "the private key of this piped does not fit: was it encrypted for another piped, or the key " +
				"pair replaced? Then " + keyPairHint,
			Foreign: true,
		}
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return "", fmt.Errorf("use the key of a secret: %w", err)
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return "", fmt.Errorf("use the key of a secret: %w", err)
	}
	text, err := gcm.Open(nil, make([]byte, gcm.NonceSize()), sealed, nil)
	if err != nil {
		return "", &CipherError{Problem: "a part of it was changed or lost; " + keyPairHint}
	}
	return string(text), nil
}

// splitHybrid separates the encrypted key from the encrypted text.
func splitHybrid(data []byte) (wrapped, sealed []byte, err error) {
	if len(data) < 2 {
		return nil, nil, &CipherError{Problem: "it is too short for an encrypted secret; " + keyPairHint}
	}
	length := int(binary.BigEndian.Uint16(data))
	if data = data[2:]; length == 0 || length > len(data) {
		return nil, nil, &CipherError{Problem: "it is not in the form of an encrypted secret; " + keyPairHint}
	}
	return data[:length], data[length:], nil
}

func parsePrivateKey(data []byte) (*rsa.PrivateKey, error) {
	block, _ := pem.Decode(data)
	if block == nil {
		return nil, errors.New("it is not in PEM form: make one with openssl genrsa -out private 2048")
	}
	if block.Headers["DEK-Info"] != "" || block.Type == "ENCRYPTED PRIVATE KEY" {
		return nil, errors.New(
			"it is protected by a passphrase, which piped cannot ask for: remove it with openssl rsa",
		)
	}
	if key, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
		return key, nil
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, errors.New("it is not an RSA private key: make one with openssl genrsa -out private 2048")
	}
	private, ok := key.(*rsa.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("it is a %T: only RSA keys can be used", key)
	}
	return private, nil
}

func parsePublicKey(data []byte) (*rsa.PublicKey, error) {
	block, _ := pem.Decode(data)
	if block == nil {
		return nil, errors.New("it is not in PEM form: make it with openssl rsa -in PRIVATE -pubout")
	}
	if key, err := x509.ParsePKCS1PublicKey(block.Bytes); err == nil {
		return key, nil
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, errors.New("it is not an RSA public key: make it with openssl rsa -in PRIVATE -pubout")
	}
	public, ok := key.(*rsa.PublicKey)
	if !ok {
		return nil, fmt.Errorf("it is a %T: only RSA keys can be used", key)
	}
	return public, nil
}
