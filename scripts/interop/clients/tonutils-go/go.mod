module tern/interop

go 1.24.0

require github.com/xssnick/tonutils-go v1.16.0
