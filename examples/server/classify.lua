-- For wrk: posts one image of 784 bytes, a grey disc, again and again.
local pixels = {}
for row = 0, 27 do
  for column = 0, 27 do
    local distance = math.sqrt((row - 13.5) ^ 2 + (column - 13.5) ^ 2)
    pixels[#pixels + 1] = string.char((distance > 6 and distance < 9) and 255 or 0)
  end
end
wrk.method = "POST"
wrk.body = table.concat(pixels)
wrk.headers["Content-Type"] = "application/octet-stream"
